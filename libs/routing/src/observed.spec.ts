import { UpstreamFailure, type FailureKind } from '@spillway/providers';
import { observedIn } from './observed';

const NOW = 1_800_000_000_000;
const failure = (kind: FailureKind, more: object = {}): UpstreamFailure =>
  new UpstreamFailure(kind, 'It failed.', more);

describe('observedIn', () => {
  it.each<FailureKind>(['requests', 'tokens', 'inflight', 'slope', 'overloaded', 'rate-limit'])(
    'tells of an overload: %s',
    kind => {
      const limits = { requests: { remaining: 0, resetMs: 10 } };
      expect(observedIn(null, failure(kind, { status: 429, retryAfterMs: 20, limits }), NOW)).toEqual({
        overload: kind,
        retryAfterMs: 20,
        limits,
      });
    },
  );

  it('lets a model that is out of order ask for time, but not one whose quota is spent', () => {
    expect(observedIn(null, failure('server', { retryAfterMs: 20 }), NOW)).toMatchObject({
      overload: null,
      retryAfterMs: 20,
    });
    expect(observedIn(null, failure('quota', { retryAfterMs: 20 }), NOW)).toBeUndefined();
  });

  it('is silent about what is no news', () => {
    expect(observedIn(null, null, NOW)).toBeUndefined();
    expect(observedIn({ limits: null, at: NOW }, null, NOW)).toBeUndefined();
    expect(observedIn(null, failure('caller-fault'), NOW)).toBeUndefined();
  });

  it('counts spans from the end of the call, not from the head of its answer', () => {
    const limits = { requests: { remaining: 1, resetMs: 1000 }, tokens: { limit: 5, remaining: 0, resetMs: 300 } };
    expect(observedIn({ limits, at: NOW }, null, NOW + 400)?.limits).toEqual({
      requests: { remaining: 1, resetMs: 600 },
    });
    expect(observedIn({ limits, at: NOW }, null, NOW + 1000)).toBeUndefined();
  });
});
