import type { Call } from '@spillway/contracts';
import { ServiceTimes } from './service-times';

const MODEL = { metric_label: 'm' };
const OTHER = { metric_label: 'n' };
const route = { name: 'r' } as Call['route'];

describe('ServiceTimes', () => {
  type TimedCall = Parameters<ServiceTimes['learn']>[0];
  const call = (changes: object = {}): TimedCall =>
    ({ body: { max_tokens: 500 }, route, streaming: false, operation: 'chat', ...changes }) as TimedCall;
  const learn = (times: ServiceTimes, ms: readonly number[], model = MODEL, of = call()): void => {
    for (const one of ms) times.learn(of, model, one);
  };
  const many = (ms: number, count = 40): number[] => Array.from({ length: count }, () => ms);

  it('know nothing of few calls', () => {
    const times = new ServiceTimes();
    learn(times, many(800, 19));
    expect(times.least(call(), [MODEL])).toBe(0);
    learn(times, [800]);
    expect(times.least(call(), [MODEL])).toBeGreaterThan(0);
  });

  it('tell what nine of ten calls took at least, within a bucket, never more', () => {
    const times = new ServiceTimes();
    learn(times, [...many(400, 20), ...many(4000, 80)]);
    const least = times.least(call(), [MODEL]);
    expect(least).toBeLessThanOrEqual(400);
    expect(least).toBeGreaterThan(400 * 0.8);
  });

  it('follow a model that becomes faster at once, and one that becomes slower when nearly all calls are', () => {
    const times = new ServiceTimes();
    learn(times, many(4000, 100));
    learn(times, many(400, 40));
    expect(times.least(call(), [MODEL])).toBeLessThan(500);
    learn(times, many(4000, 150));
    expect(times.least(call(), [MODEL])).toBeLessThan(500);
    learn(times, many(4000, 2000));
    expect(times.least(call(), [MODEL])).toBeGreaterThan(3000);
  });

  it('go by the fastest model of a chain, and know nothing where they do not know one', () => {
    const times = new ServiceTimes();
    learn(times, many(4000));
    expect(times.least(call(), [MODEL, OTHER])).toBe(0);
    learn(times, many(400), OTHER);
    expect(times.least(call(), [MODEL, OTHER])).toBeLessThanOrEqual(400);
    expect(times.least(call(), [MODEL])).toBeGreaterThan(3000);
    expect(times.least(call(), [])).toBe(0);
  });

  it.each([
    ['streams', { streaming: true }],
    ['embeddings', { operation: 'embeddings' }],
    ['shorter answers', { body: { max_tokens: 5 } }],
    ['another route', { route: { name: 'other' } }],
  ])('do not hold %s against whole answers', (_, changes) => {
    const times = new ServiceTimes();
    learn(times, many(4000));
    expect(times.least(call(changes), [MODEL])).toBe(0);
  });
});
