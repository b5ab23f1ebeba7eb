import { RedisUnavailable } from '@spillway/redis';
import type { MemoryTurns } from './memory-turns';
import { Scheduling } from './scheduling';
import type { SharedTurns } from './shared-turns';

const turnsWith = (normal: number) => ({
  depths: async () => ({ critical: 0, normal, low: 0 }),
  waits: async () => [],
  inflight: async () => ({ m: normal }),
});

describe('what waits', () => {
  const local = turnsWith(1) as unknown as MemoryTurns;
  const shared = { lost: false, turns: turnsWith(5), queues: { counts: async () => ({ waiting: 2 }) } };
  const scheduling = new Scheduling(local, shared as unknown as SharedTurns);
  const look = async () => [
    await scheduling.depths(),
    await scheduling.inflight(),
    await scheduling.queue('normal', 9),
  ];
  const seenBy = (normal: number, jobs: object | null) => [
    { critical: 0, normal, low: 0 },
    { m: normal },
    { depth: normal, oldestMs: null, tickets: [], jobs },
  ];

  it('is told by all processes on one Redis, while it is lost by this one', async () => {
    expect(await look()).toEqual(seenBy(5, { waiting: 2 }));
    shared.lost = true;
    expect(await look()).toEqual(seenBy(1, null));
    shared.lost = false;
  });

  it('is told by this process where the loss shows just now, and no mistake is hidden by that', async () => {
    const fail = (error: Error) => (): Promise<never> => Promise.reject(error);
    const failing = (error: Error) => ({ depths: fail(error), waits: fail(error), inflight: fail(error) });
    Object.assign(shared, { turns: failing(new RedisUnavailable('timeout')) });
    expect(await look()).toEqual(seenBy(1, null));
    Object.assign(shared, { turns: failing(new TypeError('a bug')) });
    await expect(scheduling.depths()).rejects.toThrow('a bug');
  });
});
