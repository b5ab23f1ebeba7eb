import { SystemClock } from '@spillway/contracts';
import { MemoryBudgets, type ModelLimits } from '@spillway/quota';
import { RedisUnavailable } from '@spillway/redis';
import { Admissions, type Decision } from './admissions';

const TIMINGS = { leaseMs: 600, claimMs: 200 };
const limits: ModelLimits = { limits: { rpm: 0, tpm: 0, tpd: 0, inflight: 2 }, headroom: 0 };

describe('Admissions', () => {
  const settings = { limitsOf: () => limits };
  const clock = new SystemClock();
  const report = jest.fn();
  let local: MemoryBudgets;
  let shared: MemoryBudgets;
  let guard: { state: 'ok' | 'lost' };
  let admissions: Admissions;

  beforeEach(() => {
    report.mockReset();
    local = new MemoryBudgets(settings, clock, TIMINGS);
    shared = new MemoryBudgets(settings, clock, TIMINGS);
    guard = { state: 'ok' };
    admissions = new Admissions(local, { budgets: shared, guard }, clock, TIMINGS, report);
  });
  afterEach(() => admissions.onApplicationShutdown());

  const admitted = async (): Promise<Extract<Decision, { kind: 'admitted' }>> => {
    const decision = await admissions.admit(['k'], 0);
    if (decision.kind === 'refused') throw new Error('refused');
    return decision;
  };
  const refused = async (): Promise<boolean> => (await admissions.admit(['k'], 0)).kind === 'refused';
  const sleep = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms));

  it('book on what processes share, and hold the lease until the call ends, once', async () => {
    const [one] = [await admitted(), await admitted()];
    expect([shared.size, local.size]).toEqual([1, 0]);
    await sleep(1_000);
    expect(await refused()).toBe(true);
    one.permit.close(0);
    one.permit.withdraw();
    one.permit.close(null);
    await admitted();
    expect(await refused()).toBe(true);
  });

  it('book on those of this process while Redis is lost', async () => {
    await admitted();
    guard.state = 'lost';
    await admitted();
    await admitted();
    expect(await refused()).toBe(true);
    guard.state = 'ok';
    await admitted();
    expect(await refused()).toBe(true);
  });

  it('take back what a lost answer may have booked', async () => {
    const admit = shared.admit.bind(shared);
    const late = jest.spyOn(shared, 'admit').mockImplementation(async request => {
      await admit(request);
      throw new RedisUnavailable('timeout');
    });
    const withdraw = jest.spyOn(shared, 'withdraw').mockRejectedValueOnce(new RedisUnavailable('lost'));
    await admitted();
    expect(local.size).toBe(1);
    while (withdraw.mock.calls.length < 2) await sleep(10);
    // Whether it is tried once more than it must be.
    await sleep(120);
    expect(withdraw).toHaveBeenCalledTimes(2);
    late.mockRestore();
    await admitted();
    await admitted();
    expect(report).not.toHaveBeenCalled();
  });

  it('do not hide a fault behind a lost Redis', async () => {
    jest.spyOn(shared, 'admit').mockRejectedValue(new Error('a mistake'));
    await expect(admissions.admit(['k'], 0)).rejects.toThrow('a mistake');
  });
});
