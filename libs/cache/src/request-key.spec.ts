import type { JsonObject } from '@spillway/contracts';
import fc from 'fast-check';
import { canonicalJson } from './canonical-json';
import { requestKey, type RequestIdentity } from './request-key';

const question = { model: 'assistant', messages: [{ role: 'user', content: 'hi' }] };
const identity: RequestIdentity = {
  namespace: 'shop',
  scope: '',
  route: 'assistant',
  generation: '0',
  beta: undefined,
  body: question,
};
const keyOf = (more: Partial<RequestIdentity>): string => requestKey({ ...identity, ...more });
const keyWith = (fields: JsonObject): string => keyOf({ body: { ...question, ...fields } });
const pictured = (url: string): string =>
  keyWith({
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url } },
        ],
      },
    ],
  });

describe('requestKey', () => {
  it('is short and the same for the same request in any order of fields', () => {
    expect(keyOf({})).toMatch(/^[\w-]{43}$/);
    expect(keyOf({ body: { messages: [{ content: 'hi', role: 'user' }], model: 'assistant' } })).toBe(keyOf({}));
  });

  it.each<[string, JsonObject]>([
    ['user', { user: 'u1' }],
    ['service_tier', { service_tier: 'flex' }],
    ['stream', { stream: true }],
    ['stream_options', { stream_options: { include_usage: true } }],
    ['metadata', { metadata: { a: 'b' } }],
    ['the spelling of the model', { model: 'gpt-4o' }],
  ])('does not depend on %s', (_, fields) => {
    expect(keyWith(fields)).toBe(keyOf({}));
  });

  it.each<[string, JsonObject, JsonObject]>([
    ['temperature absent and 0', {}, { temperature: 0 }],
    ['a field absent and null', {}, { temperature: null }],
    ['max_tokens', { max_tokens: 1 }, { max_tokens: 2 }],
    ['reasoning_effort', { reasoning_effort: 'low' }, { reasoning_effort: 'high' }],
    ['top_p', { top_p: 0.1 }, { top_p: 1 }],
    ['stop', { stop: 'a' }, { stop: ['a'] }],
    ['tool_choice', { tool_choice: 'auto' }, { tool_choice: 'none' }],
    ['tools', { tools: [{ type: 'function', function: { name: 'f' } }] }, { tools: [] }],
    ['the schema of the response', schema('a'), schema('b')],
    ['seed', { seed: 1 }, { seed: 2 }],
    ['n', { n: 1 }, { n: 2 }],
    ['what a provider may come to know', { enable_thinking: true }, { enable_thinking: false }],
    ['metadata inside a message', { x: { metadata: 1 } }, { x: { metadata: 2 } }],
    ['halves of different characters', { stop: '\ud83d' }, { stop: '\ud83e' }],
    ['a number and its text', { seed: 1 }, { seed: '1' }],
  ])('depends on %s', (_, one, other) => {
    expect(keyWith(one)).not.toBe(keyWith(other));
  });

  it('tells pictures apart (D17)', () => {
    const keys = ['data:image/png;base64,AAAA', 'data:image/png;base64,BBBB', 'https://img.example/live.png'].map(
      pictured,
    );
    expect(new Set(keys).size).toBe(3);
  });

  it('keeps to its namespace, scope, route, generation and beta, however they are spelled', () => {
    const part = fc.constantFrom('', 'a', 'b', 'a|b', 'a,b', 'a","b', '"', '\\', '|', 'null');
    const tuple = fc.tuple(part, part, part, part, fc.option(part, { nil: undefined }));
    const keyOfTuple = ([namespace, scope, route, generation, beta]: [
      string,
      string,
      string,
      string,
      string | undefined,
    ]) => keyOf({ namespace, scope, route, generation, beta });
    fc.assert(
      fc.property(tuple, tuple, (one, other) => {
        expect(keyOfTuple(one) === keyOfTuple(other)).toBe(JSON.stringify(one) === JSON.stringify(other));
      }),
    );
  });
});

describe('canonicalJson', () => {
  const json = fc.jsonValue({ noUnicodeString: false }).map(value => ({ value }) as JsonObject);

  it('says what JSON says, but for the order of fields', () => {
    fc.assert(
      fc.property(json, object => {
        expect(JSON.parse(canonicalJson(object))).toEqual(plain(object));
      }),
    );
  });

  it('does not depend on the order of fields at any depth', () => {
    fc.assert(
      fc.property(json, object => {
        expect(canonicalJson(reversed(object) as JsonObject)).toBe(canonicalJson(object));
      }),
    );
  });

  it('leaves out what is asked for, at the top only, and what is undefined', () => {
    const object = { b: 1, a: { b: 2 }, c: undefined };
    expect(canonicalJson(object, new Set(['b']))).toBe('{"a":{"b":2}}');
    expect(canonicalJson({ b: 1 }, new Set(['b']))).toBe('{}');
  });
});

function schema(name: string): JsonObject {
  return { response_format: { type: 'json_schema', json_schema: { name, schema: { type: 'object' } } } };
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, inner]) => [name, reversed(inner)]),
  );
}
