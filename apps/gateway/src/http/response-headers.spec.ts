import { Journal, type CacheTier } from '@spillway/contracts';
import { answerHeaders } from './response-headers';

it.each<[CacheTier | null, string | undefined]>([
  ['exact', 'exact'],
  ['canonical', 'canonical'],
  ['semantic', 'semantic'],
  [null, undefined],
])('x-spillway-cache-tier tells what found a cached answer: %s', (cacheTier, expected) => {
  const journal = Object.assign(new Journal(), { cacheTier });
  expect(answerHeaders('id', journal, 'cache-exact')['x-spillway-cache-tier']).toBe(expected);
});
