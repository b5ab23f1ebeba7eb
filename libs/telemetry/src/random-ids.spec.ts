import { randomHex, randomUuid } from './random-ids';

it.each([
  ['32 digits', randomHex, /^[\da-f]{32}$/],
  ['a UUID of version 4', randomUuid, /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/],
])('%s, never the same', (_, make, form) => {
  const made = Array.from({ length: 10_000 }, make);
  expect(made.filter(id => !form.test(id))).toEqual([]);
  expect(new Set(made).size).toBe(made.length);
});
