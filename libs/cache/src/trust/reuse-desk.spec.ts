import type { KeyedCall } from '@spillway/contracts';
import { questionCall } from '../../../../test/support/cached-calls';
import type { Weighed } from './experience';
import { ReuseDesk } from './reuse-desk';
import type { Neighbour } from '../vectors/vector-index';

type Parts = ConstructorParameters<typeof ReuseDesk>;

describe('what experience lets serve', () => {
  const boundary: { value: number | null } = { value: 0.8 };
  const trust = { of: () => ({ boundary: boundary.value }) } as unknown as Parts[0];
  const desk = new ReuseDesk(trust, {} as Parts[1], { append: () => undefined }, {} as Parts[3]);
  const weighed = (more: Partial<Weighed<Neighbour>> = {}): Weighed<Neighbour> => ({
    candidate: { id: 'k', text: 'How?', score: 0.9 },
    probability: 0.8,
    features: [],
    dangerous: false,
    ...more,
  });
  const isSure = (one: Weighed<Neighbour>, cacheThreshold: number | null = null): boolean =>
    desk.isSure({ ...questionCall('What?', { controls: { cacheThreshold } }), cacheKey: 'k' } as KeyedCall, one);

  it('is as probable as its boundary asks, and nothing while there is none', () => {
    expect([isSure(weighed()), isSure(weighed({ probability: 0.79 }))]).toEqual([true, false]);
    boundary.value = null;
    expect(isSure(weighed({ probability: 1 }))).toBe(false);
    boundary.value = 0.8;
  });

  it('is never what differs dangerously, however probable', () => {
    expect(isSure(weighed({ dangerous: true, probability: 1 }))).toBe(false);
  });

  it('is as near as the request asks', () => {
    expect([isSure(weighed(), 0.9), isSure(weighed(), 0.91)]).toEqual([true, false]);
  });
});
