import type { Admission, Budgets, Grant, PermitTimings } from '@spillway/quota';
import { memoryBudgets, redisBudgets, type BudgetWorld } from '../support/budgets';
import { SHORT_TIMINGS, until } from '../support/permits';

const WORLDS: [string, (timings?: PermitTimings) => BudgetWorld][] = [
  ['memory', memoryBudgets],
  ['redis', timings => redisBudgets(process.env['SPILLWAY_TEST_REDIS_URL'] ?? '', timings)],
];

describe.each(WORLDS)('Budgets: %s', (_, makeWorld) => {
  let world: BudgetWorld;
  let budgets: Budgets;
  let other: Budgets;
  let calls = 0;

  const open = async (timings?: PermitTimings): Promise<void> => {
    world = makeWorld(timings);
    budgets = await world.process();
    other = await world.process();
  };
  beforeEach(() => open());
  afterEach(() => world.stop());

  const admit = (names: readonly string[], tokens = 0, by = budgets): Promise<Admission> =>
    by.admit({ ticket: `call-${calls++}`, budgets: names, tokens });
  const take = async (names: readonly string[], tokens = 0): Promise<readonly Grant[]> => {
    const admission = await admit(names, tokens);
    if (admission.kind !== 'granted') throw new Error(`refused by ${admission.binds.limit}`);
    return admission.grants;
  };
  const used = async (budget: string, limit: 'rpm' | 'tpm'): Promise<number> => {
    const probe = await admit([budget]);
    if (probe.kind === 'granted') await endAll(probe.grants, grant => budgets.withdraw(grant));
    const count = probe.uses.find(use => use.limit === limit)?.used ?? 0;
    return probe.kind === 'granted' && limit === 'rpm' ? count - 1 : count;
  };
  const endAll = (grants: readonly Grant[], how: (grant: Grant) => Promise<void>): Promise<unknown> =>
    Promise.all(grants.map(how));

  it('admit exactly as many of 1000 calls at once as the limit says, whichever process asks', async () => {
    world.limit('k', { rpm: 100 });
    const all = await Promise.all(
      Array.from({ length: 1000 }, (_value, index) => admit(['k'], 0, index % 2 ? budgets : other)),
    );
    expect(all.filter(({ kind }) => kind === 'granted')).toHaveLength(100);
    const refused = all.find(({ kind }) => kind === 'refused');
    expect(refused).toMatchObject({
      binds: { budget: 'k', limit: 'rpm', inMs: expect.any(Number) },
      uses: [{ budget: 'k', limit: 'rpm', admitted: 100, used: 100 }],
    });
    const { binds } = refused as Extract<Admission, { kind: 'refused' }>;
    expect(binds.inMs).toBeGreaterThan(50_000);
    expect(binds.inMs).toBeLessThanOrEqual(60_500);
  });

  it('count a call on all of them or on none', async () => {
    world.limit('k', { rpm: 10 });
    world.limit('u', { rpm: 2 });
    const kinds = [];
    for (let call = 0; call < 4; call++) kinds.push((await admit(['k', 'u'])).kind);
    expect(kinds).toEqual(['granted', 'granted', 'refused', 'refused']);
    expect(await used('k', 'rpm')).toBe(2);
    expect(await admit(['k', 'u'])).toMatchObject({ binds: { budget: 'u', limit: 'rpm' } });
  });

  it('name the refusal that lasts longest', async () => {
    world.limit('k', { inflight: 1 });
    world.limit('u', { rpm: 1 });
    await take(['k', 'u']);
    expect(await admit(['k', 'u'])).toMatchObject({ binds: { budget: 'u', limit: 'rpm' } });
    expect(await admit(['k'])).toMatchObject({ binds: { budget: 'k', limit: 'inflight', inMs: null } });
  });

  it('reserve tokens, and correct them to what was used', async () => {
    world.limit('k', { tpm: 200 });
    const grants = await take(['k'], 160);
    expect(await admit(['k'], 160)).toMatchObject({ binds: { limit: 'tpm' } });
    await endAll(grants, grant => budgets.release(grant, 30));
    expect(await used('k', 'tpm')).toBe(30);
    await endAll(await take(['k'], 160), grant => budgets.release(grant, null));
    expect(await used('k', 'tpm')).toBe(190);
  });

  it('forget a call that is withdrawn', async () => {
    world.limit('k', { rpm: 1, tpm: 100, inflight: 1 });
    for (let call = 0; call < 3; call++) await endAll(await take(['k'], 90), grant => budgets.withdraw(grant));
    await endAll(await take(['k'], 90), grant => budgets.release(grant, 1));
    expect(await admit(['k'])).toMatchObject({ binds: { limit: 'rpm' } });
  });

  it('give back each slot once, however often it is ended', async () => {
    world.limit('k', { inflight: 2 });
    const first = await take(['k']);
    await take(['k']);
    for (let time = 0; time < 3; time++) await endAll(first, grant => budgets.release(grant, 0));
    await endAll(first, grant => other.withdraw(grant));
    await take(['k']);
    expect((await admit(['k'])).kind).toBe('refused');
  });

  it('give back the slots of a process that died, but not of one that renews', async () => {
    await world.stop();
    await open(SHORT_TIMINGS);
    world.limit('k', { inflight: 2 });
    const kept = await take(['k']);
    await take(['k']);
    const renewing = setInterval(() => void budgets.renew(kept), 50);
    await until(async () => (await admit(['k'])).kind === 'granted');
    expect((await admit(['k'])).kind).toBe('refused');
    clearInterval(renewing);
  });

  it('follow limits that change', async () => {
    world.limit('k', { rpm: 1 });
    await take(['k']);
    world.limit('k', { rpm: 3 });
    await take(['k']);
    world.limit('k', { rpm: 1 });
    expect((await admit(['k'])).kind).toBe('refused');
  });

  it('say when all of a limit is free again', async () => {
    world.limit('k', { rpm: 5, tpm: 100 });
    const { uses } = await admit(['k'], 10);
    expect(uses.map(({ limit, admitted, used: count }) => [limit, admitted, count])).toEqual([
      ['rpm', 5, 1],
      ['tpm', 100, 10],
    ]);
    for (const { emptyInMs } of uses) {
      expect(emptyInMs).toBeGreaterThanOrEqual(60_000);
      expect(emptyInMs).toBeLessThanOrEqual(60_500);
    }
  });
});
