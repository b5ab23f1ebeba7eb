import type { ModelSettings } from '@spillway/contracts';
import { UpstreamFailure, type FailureKind } from '@spillway/providers';
import { configStore } from '../../../test/support/settings';
import { remainingAfter, verdict } from './failures';

const { models } = configStore({
  providers: { local: { base_url: 'http://127.0.0.1:9/v1' } },
  models: {
    small: { provider: 'local', context_window: 8_000 },
    large: { provider: 'local', context_window: 128_000 },
    tiny: { provider: 'local', context_window: 4_000 },
    equal: { provider: 'local', context_window: 8_000 },
    unknown: { provider: 'local' },
  },
}).current;

const model = (name: string): ModelSettings => {
  const found = models.get(name);
  if (found === undefined) throw new Error(name);
  return found;
};
const chain = ['small', 'large', 'tiny', 'equal', 'unknown'].map(model);
const failed = (kind: FailureKind, more: { name?: string; retryAfterMs?: number; status?: number } = {}) => ({
  model: model(more.name ?? 'small'),
  failure: new UpstreamFailure(kind, kind, { retryAfterMs: more.retryAfterMs ?? null, status: more.status ?? null }),
});
const namesAfter = (kind: FailureKind) => remainingAfter(chain, failed(kind)).map(({ name }) => name);

describe('the models that are left', () => {
  it('are all others, in order, after a failure that is the model’s own', () => {
    expect(namesAfter('server')).toEqual(['large', 'tiny', 'equal', 'unknown']);
    expect(namesAfter('requests')).toEqual(['large', 'tiny', 'equal', 'unknown']);
    expect(namesAfter('auth')).toEqual(['large', 'tiny', 'equal', 'unknown']);
  });

  it('are none after a fault of the caller', () => {
    expect(namesAfter('caller-fault')).toEqual([]);
  });

  it('are those that may be larger after a prompt that was too long', () => {
    expect(namesAfter('context-length')).toEqual(['large', 'unknown']);
  });
});

describe('the verdict on a chain that failed', () => {
  it.each<[FailureKind[], string, number]>([
    [['server'], 'upstream_error', 502],
    [['network', 'empty', 'protocol', 'truncated', 'stream-error'], 'upstream_error', 502],
    [['auth'], 'upstream_auth_error', 502],
    [['billing'], 'upstream_auth_error', 502],
    [['auth', 'server'], 'upstream_error', 502],
    [['timeout'], 'upstream_timeout', 504],
    [['timeout', 'server'], 'upstream_timeout', 504],
    [['requests'], 'no_model_available', 503],
    [['quota'], 'no_model_available', 503],
    [['server', 'overloaded', 'auth'], 'no_model_available', 503],
  ])('on %p is %s', (kinds, code, status) => {
    expect(verdict(kinds.map(kind => failed(kind)))).toMatchObject({ code, status });
  });

  it('names the earliest time that something may be served again', () => {
    const walk = [
      failed('requests', { retryAfterMs: 9_000 }),
      failed('tokens', { retryAfterMs: 2_000 }),
      failed('server'),
    ];
    expect(verdict(walk).retryAfterMs).toBe(2_000);
    expect(verdict([failed('server')]).retryAfterMs).toBeNull();
  });

  it('says when asking again cannot help', () => {
    expect(verdict([failed('quota')]).retryable).toBe(false);
    expect(verdict([failed('quota'), failed('requests')]).retryable).toBe(true);
    expect(verdict([failed('auth')]).retryable).toBe(false);
  });

  it('passes a model’s own refusal on', () => {
    const answer = { status: 422, text: '{"detail":"no"}', contentType: 'application/json' };
    const refusal = {
      model: model('small'),
      failure: new UpstreamFailure('caller-fault', 'no', { status: 422, answer }),
    };
    expect(verdict([failed('server', { name: 'large' }), refusal])).toMatchObject({
      status: 422,
      text: '{"detail":"no"}',
    });
  });
});
