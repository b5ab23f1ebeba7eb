import { InvalidRequest, UpstreamError, type KeyedCall } from '@spillway/contracts';
import { cacheableCall, type CallChanges } from '../../../test/support/cached-calls';
import { ManualClock } from '../../../test/support/manual-clock';
import type { CachedAnswer } from './cached-answer';
import { StaleIfErrorStage } from './stale-if-error.stage';

const KEPT: CachedAnswer = {
  rest: '"choices":[]}',
  model: 'm',
  usage: null,
  digest: null,
  madeAt: 0,
  expiresAt: 1,
};

describe('an answer that has expired', () => {
  const asked: string[] = [];
  const counted: string[] = [];
  const store = {
    getStale: async (key: string) => {
      asked.push(key);
      return key === 'known' ? KEPT : null;
    },
  };
  const meter = { lookup: (...what: string[]) => void counted.push(what.join(' ')) };
  const stage = new StaleIfErrorStage(store, new ManualClock(), meter);
  const handle = (error: Error, changes: CallChanges, cacheKey = 'known') => {
    const call: KeyedCall = { ...cacheableCall(changes), cacheKey };
    return stage.handle(call, () => Promise.reject(error)).then(() => call.journal.degraded);
  };
  beforeEach(() => {
    asked.splice(0);
    counted.splice(0);
  });

  it('stands in for an error where the route keeps it', async () => {
    expect(await handle(new UpstreamError('no'), { staleIfErrorS: 60 })).toBe('stale');
    await expect(handle(new UpstreamError('no'), { staleIfErrorS: 60 }, 'unknown')).rejects.toThrow('no');
    expect(counted).toEqual(['stale hit', 'stale miss']);
  });

  it.each<[string, Error, CallChanges]>([
    ['where the route keeps none', new UpstreamError('no'), {}],
    ['for a fault of the caller', new InvalidRequest('no'), { staleIfErrorS: 60 }],
    ['where the caller reads no cache', new UpstreamError('no'), { staleIfErrorS: 60, controls: { cacheRead: false } }],
    ['where the route has no cache', new UpstreamError('no'), { staleIfErrorS: 60, cache: { exact: false } }],
  ])('is not looked for %s', async (_, error, changes) => {
    await expect(handle(error, changes)).rejects.toThrow('no');
    expect([asked, counted]).toEqual([[], []]);
  });
});
