import { isEventOf, isParticipleOf } from './word-forms';

it.each([
  ['waived', 'waive'],
  ['accepted', 'accept'],
  ['carried', 'carry'],
  ['played', 'play'],
  ['shipped', 'ship'],
  ['sold', 'sell'],
  ['put', 'put'],
])('%s is what was done to something by those who %s', (participle, verb) => {
  expect(isParticipleOf(participle, verb)).toBe(true);
});

it.each([
  ['need', 'ne'],
  ['sold', 'sold'],
  ['red', 'r'],
  ['waived', 'wave'],
  ['bed', 'be'],
])('%s is not what those who %s do', (participle, verb) => {
  expect(isParticipleOf(participle, verb)).toBe(false);
});

it.each([
  ['arrival', 'arrive'],
  ['delivery', 'deliver'],
  ['expiry', 'expire'],
  ['maturity', 'mature'],
  ['expiration', 'expire'],
  ['start', 'start'],
  ['opening', 'open'],
])('%s is when things %s', (noun, verb) => {
  expect(isEventOf(noun, verb)).toBe(true);
});

it.each([
  ['end', 'start'],
  ['party', 'part'],
  ['release', 'relay'],
])('%s is not when things %s', (noun, verb) => {
  expect(isEventOf(noun, verb)).toBe(false);
});
