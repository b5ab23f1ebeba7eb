import type { JsonObject } from '@spillway/contracts';
import { modelAt } from '../../../test/support/upstream-models';
import { chatBody, embeddingsBody } from './upstream-body';

const model = modelAt('http://127.0.0.1:1');
const messages = [{ role: 'user', content: 'ping' }];
const parse = (json: string): unknown => JSON.parse(json);

describe('the body for a model', () => {
  it('is what the caller sent, but for the model and router controls', () => {
    const body = Object.freeze({
      model: 'assistant',
      messages: [{ role: 'assistant', content: null, tool_calls: [{ id: 'a' }] }],
      service_tier: 'flex',
      user: 'u',
      unknown_field: { a: [1, null] },
    });
    expect(parse(chatBody(model, body, false))).toEqual({
      model: 'real-primary',
      messages: body.messages,
      user: 'u',
      unknown_field: { a: [1, null] },
    });
    expect(body.service_tier).toBe('flex');
  });

  it('asks streams for their usage, where the provider can', () => {
    const body = { model: 'a', messages, stream: true, stream_options: { include_obfuscation: false } };
    expect(parse(chatBody(model, body, true))).toMatchObject({
      stream: true,
      stream_options: { include_obfuscation: false, include_usage: true },
    });
    const plain = modelAt('http://127.0.0.1:1', { provider: { stream_usage: false } });
    expect(parse(chatBody(plain, body, true))).toMatchObject({ stream_options: { include_obfuscation: false } });
  });

  it('streams if it is to stream, whatever the caller asked for', () => {
    expect(parse(chatBody(model, { messages }, true))).toMatchObject({ stream: true });
    expect(parse(chatBody(model, { messages, stream: true }, false))).toMatchObject({ stream: false });
    expect(parse(chatBody(model, { messages }, false))).not.toHaveProperty('stream');
  });

  it('makes halves of surrogate pairs well-formed and leaves everything else', () => {
    const body: JsonObject = {
      input: ['cut \ud83d', '\ude00 cut', 'whole 😀', 'not one: \\ud83d', 'mixed \\\ud83d'],
      'key \ud83d': 1,
    };
    expect(parse(embeddingsBody(model, body))).toEqual({
      model: 'real-primary',
      input: ['cut \ufffd', '\ufffd cut', 'whole 😀', 'not one: \\ud83d', 'mixed \\\ufffd'],
      'key \ufffd': 1,
    });
  });

  it('keeps an own field named __proto__ a field', () => {
    const body = JSON.parse('{"__proto__":{"stream":true},"messages":[]}') as JsonObject;
    expect(chatBody(model, body, false)).toContain('"__proto__":{"stream":true}');
  });
});
