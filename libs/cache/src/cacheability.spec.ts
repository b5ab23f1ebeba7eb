import type { Call, JsonObject } from '@spillway/contracts';
import { cacheableCall, completion } from '../../../test/support/cached-calls';
import { isWorthKeeping, mayWriteExact, refusalOfExact, ttlMsOf } from './cacheability';

describe('isWorthKeeping', () => {
  const choiceOf = (message: JsonObject, finish_reason: string | null = 'stop'): JsonObject => ({
    index: 0,
    message: { role: 'assistant', content: null, ...message },
    finish_reason,
  });
  const toolCalls = [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }];

  it.each<[string, JsonObject]>([
    ['a text', choiceOf({ content: 'pong' })],
    ['a text with a null refusal and reasoning', choiceOf({ content: 'a', refusal: null, reasoning_content: 'hm' })],
    ['tool calls', choiceOf({ tool_calls: toolCalls }, 'tool_calls')],
    ['a function call of old', choiceOf({ function_call: { name: 'f', arguments: '' } }, 'function_call')],
    ['a list of contents', choiceOf({ content: [{ type: 'text', text: 'a' }] })],
  ])('keeps %s', (_, choice) => {
    expect(isWorthKeeping({ choices: [choice] })).toBe(true);
  });

  it.each<[string, JsonObject]>([
    ['an answer cut short', choiceOf({ content: 'po' }, 'length')],
    ['a filtered answer', choiceOf({ content: 'po' }, 'content_filter')],
    ['an unfinished answer', choiceOf({ content: 'po' }, null)],
    ['an end nobody knows', choiceOf({ content: 'po' }, 'error')],
    ['nothing', choiceOf({})],
    ['white space', choiceOf({ content: ' \n\t' })],
    ['reasoning alone', choiceOf({ content: '', reasoning_content: 'hm' })],
    ['a refusal', choiceOf({ content: 'a', refusal: 'I cannot' })],
    ['an empty list of tool calls', choiceOf({ tool_calls: [] }, 'tool_calls')],
    ['a choice without a message', { index: 0, finish_reason: 'stop' }],
  ])('does not keep %s', (_, choice) => {
    expect(isWorthKeeping({ choices: [choice] })).toBe(false);
    expect(isWorthKeeping({ choices: [choiceOf({ content: 'good' }), choice] })).toBe(false);
  });

  it('does not keep what is no completion', () => {
    for (const body of [{}, { choices: [] }, { choices: 'a' }, { choices: [null] }, { error: { message: 'x' } }]) {
      expect(isWorthKeeping(body)).toBe(false);
    }
    expect(isWorthKeeping({ ...completion({ content: 'a' }), error: { message: 'x' } })).toBe(false);
  });
});

describe('what a call allows', () => {
  const allowed = (call: Call): [boolean, boolean] => [refusalOfExact(call) === null, mayWriteExact(call)];

  it.each<[string, Call, [boolean, boolean]]>([
    ['by default', cacheableCall(), [true, true]],
    ['no-cache', cacheableCall({ controls: { cacheRead: false } }), [false, true]],
    ['no-store', cacheableCall({ controls: { cacheRead: false, cacheWrite: false } }), [false, false]],
    ['level off', cacheableCall({ controls: { cacheLevel: 'off' } }), [false, false]],
    ['level exact', cacheableCall({ controls: { cacheLevel: 'exact' } }), [true, true]],
    ['level semantic', cacheableCall({ controls: { cacheLevel: 'semantic' } }), [true, true]],
    ['a ttl of 0', cacheableCall({ controls: { cacheTtlS: 0 } }), [true, false]],
    ['a route without the cache', cacheableCall({ cache: { exact: false } }), [false, false]],
    ['a route with a ttl of 0', cacheableCall({ cache: { ttl_s: 0 } }), [true, false]],
    ['embeddings', cacheableCall({ operation: 'embeddings' }), [false, false]],
  ])('%s', (_, call, expected) => {
    expect(allowed(call)).toEqual(expected);
  });

  it("takes the call's ttl before the route's", () => {
    expect(ttlMsOf(cacheableCall())).toBe(3_600_000);
    expect(ttlMsOf(cacheableCall({ controls: { cacheTtlS: 5 } }))).toBe(5000);
  });
});
