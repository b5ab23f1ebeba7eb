import { ConfigurationError } from '@spillway/config';
import { CapturedLog } from '../../../../test/support/captured-log';
import { modelAt } from '../../../../test/support/upstream-models';
import { BuiltinEmbedder } from './builtin-embedder';
import { embedderOf } from './embedder-of';
import { EndpointEmbedder } from './endpoint-embedder';

const never = { embeddings: () => Promise.reject(new Error('not asked')) };
const log = new CapturedLog();

describe('embedderOf', () => {
  it('is the configured one', () => {
    const { provider } = modelAt('http://127.0.0.1:1');
    expect(embedderOf({ kind: 'builtin' }, never, log)).toBeInstanceOf(BuiltinEmbedder);
    const endpoint = embedderOf({ kind: 'endpoint', provider, model: 'small' }, never, log);
    expect(endpoint).toBeInstanceOf(EndpointEmbedder);
    expect(endpoint.id).toMatch(/^small@[0-9a-f]{8}$/);
    const elsewhere = { ...provider, base_url: 'http://127.0.0.1:2/v1' };
    expect(embedderOf({ kind: 'endpoint', provider: elsewhere, model: 'small' }, never, log).id).not.toBe(endpoint.id);
  });

  it('stops the start where it cannot be, rather than take another', () => {
    const missing = { kind: 'onnx', model: './no-such-folder' } as const;
    expect(() => embedderOf(missing, never, log)).toThrow(ConfigurationError);
    expect(() => embedderOf(missing, never, log)).toThrow('embedding.model: there is no folder');
  });
});
