import { randomBytes } from 'node:crypto';
import type { JsonObject, JsonValue } from '@spillway/contracts';
import fc from 'fast-check';
import { estimateInput } from './measure-input';

const IMAGE = 765;

function chat(content: JsonValue, more: JsonObject = {}): JsonObject {
  return { messages: [{ role: 'user', content }], ...more };
}

const estimateChat = (content: JsonValue, more?: JsonObject): number => estimateInput(chat(content, more), 'chat');
const empty = estimateChat('');

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.string({ unit: 'grapheme', maxLength: 200 }),
  fc.string({ unit: fc.constantFrom('a', 'B', '7', ' ', '\n', '{', '漢', 'д', '🚀', 'é', '\ud83d'), maxLength: 400 }),
);

describe('text', () => {
  it('is never below an eighth of its bytes nor 1', () => {
    fc.assert(
      fc.property(anyText, text => {
        const estimate = estimateInput({ input: text }, 'embeddings');
        expect(estimate).toBeGreaterThanOrEqual(Math.max(1, Buffer.byteLength(text) / 8));
        expect(Number.isInteger(estimate)).toBe(true);
      }),
    );
  });

  it('never costs less when it goes on', () => {
    fc.assert(
      fc.property(anyText, anyText, (text, more) => {
        expect(estimateChat(text + more)).toBeGreaterThanOrEqual(estimateChat(text));
      }),
    );
  });

  it.each([
    ['one letter', 'x'.repeat(500_000), 62_500, 80_000],
    ['spaces', ' '.repeat(500_000), 62_500, 80_000],
    ['base64', randomBytes(375_000).toString('base64'), 200_000, 450_000],
    ['emoji', '🚀'.repeat(50_000), 40_000, 120_000],
    ['Chinese characters', '漢'.repeat(50_000), 30_000, 60_000],
  ])('stays near the truth for %s without a pause', (_, text, least, most) => {
    const estimate = estimateChat(text);
    expect(estimate).toBeGreaterThanOrEqual(least);
    expect(estimate).toBeLessThanOrEqual(most);
  });

  it.each([
    ['one letter', () => 'x'],
    ['Chinese', () => '漢'],
    ['base64', () => randomBytes(30).toString('base64')],
    ['code', () => 'if (a[i] !== b) { return f(x, 1234); }\n'],
  ])('takes time in proportion to its length: %s', (_, piece) => {
    const short = ''.padEnd(100_000, piece());
    const long = short.repeat(16);
    fastest(short);
    // Of its square it would take 256 times as long.
    expect(fastest(long)).toBeLessThan(128 * fastest(short));
  });
});

/** Milliseconds of the fastest of several runs, which noise on the machine disturbs least. */
function fastest(text: string): number {
  const times = Array.from({ length: 9 }, () => {
    const start = performance.now();
    estimateChat(text);
    return performance.now() - start;
  });
  return Math.min(...times);
}

describe('chat', () => {
  it('counts what surrounds every message', () => {
    const once = estimateInput({ messages: [{ role: 'user', content: 'Hi' }] }, 'chat');
    const message = { role: 'user', content: 'Hi' };
    expect(estimateInput({ messages: [message, message, message] }, 'chat')).toBe(once + 2 * 5);
  });

  it('counts the parts of a message like its text', () => {
    const text = 'What is shown here?';
    expect(estimateChat([{ type: 'text', text }])).toBe(estimateChat(text));
  });

  it('counts an image by its detail, not by the length of its data', () => {
    const url = `data:image/png;base64,${randomBytes(300_000).toString('base64')}`;
    expect(estimateChat([{ type: 'image_url', image_url: { url } }])).toBe(empty + IMAGE);
    expect(estimateChat([{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }])).toBe(empty + IMAGE);
    expect(estimateChat([{ type: 'image_url', image_url: { url, detail: 'low' } }])).toBe(empty + 85);
    expect(estimateChat([{ type: 'image_url', image_url: url }])).toBe(empty + IMAGE);
  });

  it('counts a sound by its length in seconds', () => {
    const data = Buffer.alloc(48_000 * 60).toString('base64');
    expect(estimateChat([{ type: 'input_audio', input_audio: { data, format: 'wav' } }])).toBe(empty + 600);
  });

  it('never takes the content of a file for text, whatever the part is called', () => {
    const data = randomBytes(300_000).toString('base64');
    const known = estimateChat([{ type: 'file', file: { file_data: data, filename: 'a.pdf' } }]);
    const unknown = estimateChat([{ type: 'document', source: { media_type: 'application/pdf', data } }]);
    expect(known).toBeLessThan(20_000);
    expect(unknown).toBeLessThan(20_000);
    expect(estimateChat([{ type: 'file', file: { file_id: 'file-1' } }])).toBeGreaterThan(empty);
  });

  it('counts tools, functions and the schema of the answer', () => {
    const schema = { type: 'object', properties: { city: { type: 'string', description: 'Name of the city' } } };
    const tools = [{ type: 'function', function: { name: 'weather', parameters: schema } }];
    const plain = estimateChat('Hi');
    expect(estimateChat('Hi', { tools })).toBeGreaterThan(plain + 15);
    expect(estimateChat('Hi', { functions: [{ name: 'weather', parameters: schema }] })).toBeGreaterThan(plain + 15);
    const response_format = { type: 'json_schema', json_schema: { name: 'place', schema } };
    expect(estimateChat('Hi', { response_format })).toBeGreaterThan(plain + 15);
    expect(estimateChat('Hi', { response_format: { type: 'json_object' } })).toBe(plain);
  });

  it('counts the calls of tools that a conversation holds', () => {
    const calls = [{ id: 'call-1', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } }];
    const message = { role: 'assistant', content: null };
    const without = estimateInput({ messages: [message] }, 'chat');
    expect(estimateInput({ messages: [{ ...message, tool_calls: calls }] }, 'chat')).toBeGreaterThan(without + 8);
  });

  it('survives any depth', () => {
    let deep: JsonObject = {};
    for (let level = 0; level < 100_000; level++) deep = { deep };
    expect(estimateChat('Hi', { tools: [deep] })).toBeGreaterThan(100_000);
  });

  it('never throws, whatever the body is', () => {
    const json = fc.jsonValue().map(value => value as JsonValue);
    const part = fc.dictionary(fc.constantFrom('text', 'image_url', 'input_audio', 'file', 'other'), json);
    const message = fc.dictionary(
      fc.constantFrom('role', 'content', 'name', 'tool_calls'),
      fc.oneof(json, fc.array(part)),
    );
    const body = fc.dictionary(
      fc.constantFrom('messages', 'tools', 'response_format', 'input'),
      fc.oneof(json, fc.array(fc.oneof(message, json))),
    );
    fc.assert(
      fc.property(body, fc.constantFrom('chat' as const, 'embeddings' as const), (any, operation) => {
        expect(estimateInput(any as JsonObject, operation)).toBeGreaterThanOrEqual(1);
      }),
    );
  });
});

describe('embeddings', () => {
  const estimate = (input: JsonValue): number => estimateInput({ input }, 'embeddings');

  it('sums up texts', () => {
    expect(estimate('Where is my parcel?')).toBe(5);
    expect(estimate(['Where is my parcel?', 'Where is my parcel?'])).toBe(10);
  });

  it('counts token ids', () => {
    expect(estimate([1, 2, 3])).toBe(3);
    expect(
      estimate([
        [1, 2],
        [3, 4, 5],
      ]),
    ).toBe(5);
  });
});
