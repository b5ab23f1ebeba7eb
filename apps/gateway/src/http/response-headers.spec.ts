import { Journal, wholePart, type CacheTier } from '@spillway/contracts';
import { SharedHead, answerHeaders, wholeHeaders } from './response-headers';

it.each<[CacheTier | null, string | undefined]>([
  ['exact', 'exact'],
  ['canonical', 'canonical'],
  ['semantic', 'semantic'],
  [null, undefined],
])('x-spillway-cache-tier tells what found a cached answer: %s', (cacheTier, expected) => {
  const journal = Object.assign(new Journal(), { cacheTier });
  expect(answerHeaders('id', journal, 'cache-exact', 0)['x-spillway-cache-tier']).toBe(expected);
});

it('what equal calls share is sent with what is of each', () => {
  const journal = Object.assign(new Journal(), { cacheTier: 'exact', model: 'a b', madeAt: 1_000 });
  const part = wholePart({ text: '“é”' });
  const others = { vary: 'Origin' };
  const head = new SharedHead(journal, 'cache-exact', others);
  for (const [id, now, age] of [
    ['one', 13_345, '12'],
    ['two', 500, '0'],
  ] as const) {
    const sent = head.of(id, part, now);
    const names = sent.filter((_, index) => index % 2 === 0);
    const byName = Object.fromEntries(names.map((name, index) => [name, sent[2 * index + 1]]));
    expect(byName).toEqual({ ...others, ...answerHeaders(id, journal, 'cache-exact', now), ...wholeHeaders(part) });
    expect(byName).toMatchObject({ age, 'x-request-id': id, 'x-spillway-model': 'a%20b' });
    expect(new Set(names).size).toBe(names.length);
  }
});
