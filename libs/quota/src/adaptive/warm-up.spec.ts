import { warmUpFactor } from './warm-up';

const HALF = { factor: 0.5, hours: 24 };
const HOUR = 3_600_000;

describe('the warm-up of a model', () => {
  it.each([
    ['without one it has all', undefined, null, 1],
    ['never used', HALF, null, 0.5],
    ['just used', HALF, 100 * HOUR, 0.5],
    ['used for almost as long as it lasts', HALF, 76 * HOUR + 1, 0.5],
    ['used for as long as it lasts', HALF, 76 * HOUR, 1],
    ['used for longer', HALF, 0, 1],
    ['used later than now, by another clock', HALF, 101 * HOUR, 0.5],
    ['for a quarter of an hour', { factor: 0.1, hours: 0.25 }, 99.8 * HOUR, 0.1],
  ])('%s', (_, settings, firstUsedAt, expected) => {
    expect(warmUpFactor(settings, firstUsedAt, 100 * HOUR)).toBe(expected);
  });
});
