import fc from 'fast-check';
import type { ObservedBucket } from '@spillway/contracts';
import { RedisConnections } from '@spillway/redis';
import type { ModelLimits } from '../limits';
import type { Lesson } from '../learned';
import { ADMIT } from './admit.lua';
import { BEAT } from './beat.lua';
import { ENTER } from './enter.lua';
import { EXPLAIN } from './explain.lua';
import { INSPECT } from './inspect.lua';
import { REACH } from './reach.lua';
import { REBOOK } from './rebook.lua';
import { RELEASE } from './release.lua';
import { RENEW } from './renew.lua';
import { keysOf } from './scripts';
import { SPARE } from './spare.lua';
import { SURVEY } from './survey.lua';
import { SWEEP } from './sweep.lua';
import { MODELS, TIMINGS, Twins } from './twins';
import { WITHDRAW } from './withdraw.lua';

const CHAINS = [['m'], ['n'], ['m', 'n'], ['n', 'm']];

let connections: RedisConnections;

beforeAll(async () => {
  connections = new RedisConnections({ url: process.env['SPILLWAY_TEST_REDIS_URL'] ?? '', prefix: 'scripts' });
  await connections.ready();
});
afterAll(() => connections.onApplicationShutdown());

const limit = (max: number): fc.Arbitrary<number> => fc.oneof(fc.constant(0), fc.integer({ min: 1, max }));
const model: fc.Arbitrary<ModelLimits> = fc.record({
  limits: fc.record({ inflight: limit(6), rpm: limit(40), tpm: limit(2000), tpd: limit(20_000) }),
  headroom: fc.constantFrom(0, 0.2),
  growth: fc.option(
    fc.record({ max_ratio: fc.constantFrom(0.2, 1), per_s: fc.constant(10), floor_rps: fc.constantFrom(0.4, 1) }),
    { nil: undefined },
  ),
  climb: fc.option(
    fc.record({
      mode: fc.constantFrom('auto', 'on', 'off'),
      initial_rps: fc.constantFrom(2, 5),
      max_rps: fc.constantFrom(0, 6),
      burst_s: fc.constantFrom(0.3, 1),
      interval_s: fc.constantFrom(0.5, 2),
      strict_error_ratio: fc.constant(0.2),
      relax_error_ratio: fc.constant(0.05),
      probe_ratio: fc.constant(0.3),
      fast_probe_ratio: fc.constant(0.4),
      returned_at: fc.constantFrom(undefined, 1, 2),
    }),
    { nil: undefined },
  ),
});
const count = fc.oneof(fc.constant(undefined), fc.nat(30));
const bucket: fc.Arbitrary<ObservedBucket> = fc
  .record({ limit: count, remaining: count, resetMs: fc.oneof(fc.constant(undefined), fc.nat(3000)) })
  .map(told => JSON.parse(JSON.stringify(told)) as ObservedBucket);
const lesson: fc.Arbitrary<Lesson> = fc.record({
  end: fc.constantFrom('success', 'success', 'dropped', 'ignored'),
  observed: fc.option(
    fc.record({
      overload: fc.constantFrom(null, null, 'requests', 'inflight', 'slope'),
      retryAfterMs: fc.constantFrom(null, null, null, 300, 4000),
      limits: fc.option(fc.record({ requests: bucket, tokens: bucket }), { freq: 2 }),
    }),
    { nil: undefined, freq: 2 },
  ),
});
const step = fc.record({
  what: fc.oneof(
    { weight: 6, arbitrary: fc.constant('enter' as const) },
    { weight: 4, arbitrary: fc.constantFrom('reach' as const, 'release' as const) },
    { weight: 3, arbitrary: fc.constant('pass' as const) },
    { weight: 2, arbitrary: fc.constant('spare' as const) },
    { weight: 1, arbitrary: fc.constantFrom('withdraw' as const, 'renew' as const, 'rebook' as const) },
  ),
  pick: fc.nat(),
  rank: fc.nat(2),
  chain: fc.constantFrom(...CHAINS),
  wait: fc.integer({ min: 500, max: 20_000 }),
  tokens: fc.nat(90),
  express: fc.boolean(),
  lesson,
  ms: fc.oneof({ weight: 5, arbitrary: fc.nat(700) }, { weight: 1, arbitrary: fc.nat(70_000) }),
});

describe('the scripts', () => {
  it('decide as the memory law does, step by step', async () => {
    const grants = { express: 0, reached: 0, pumped: 0, spare: 0 };
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(model, model),
        fc.array(step, { minLength: 30, maxLength: 90 }),
        async (models, steps) => {
          const twins = new Twins(
            connections.get('commands'),
            new Map(models.map((limits, at) => [MODELS[at] ?? '', limits])),
            grants,
          );
          await twins.setClock();
          for (const { what, pick, rank, chain, wait, tokens, express, lesson, ms } of steps) {
            const all = [...twins.granted.keys()];
            const waits = [...twins.waiting];
            const call = all[pick % all.length];
            const ticket = waits[pick % waits.length];
            if (what === 'enter') await twins.enter(rank, chain, wait, tokens, express);
            else if (what === 'spare') await twins.takeSpare(rank, chain[0] ?? 'm', tokens);
            else if (what === 'pass') await twins.pass(ms);
            else if (what === 'reach' && ticket !== undefined) await twins.reach(ticket);
            else if (what === 'release' && call !== undefined)
              await twins.release(call, pick % 3 ? tokens : null, lesson);
            else if (what === 'renew' && call !== undefined) await twins.renew(call);
            else if (what === 'rebook' && call !== undefined) await twins.rebook(call, tokens);
            else if (what === 'withdraw')
              await twins.withdraw([...all, ...waits][pick % (all.length + waits.length)] ?? 'x');
            await twins.compare();
          }
          for (const one of twins.seen) seen.add(one);
        },
      ),
      { numRuns: 120, endOnFailure: true },
    );
    for (const count of Object.values(grants)) expect(count).toBeGreaterThan(5);
    const learned = ['growth', 'requests', 'tokens', 'rest', 'climb', 'initial', 'overload', 'fell', 'idle'];
    expect([...seen]).toEqual(expect.arrayContaining(learned));
  });

  it('count on when the clock is set back', async () => {
    const grants = { express: 0, reached: 0, pumped: 0, spare: 0 };
    const limits = { rpm: 1, tpm: 0, tpd: 0, inflight: 0 };
    const twins = new Twins(connections.get('commands'), new Map([['m', { limits, headroom: 0 }]]), grants);
    const admitted: number[] = [];
    await twins.setClock();
    for (const ms of [0, -3_600_000, 59_000, 2000]) {
      await twins.pass(ms);
      await twins.enter(0, ['m'], 1000, 1, true);
      admitted.push(grants.express);
    }
    expect(admitted).toEqual([1, 1, 1, 2]);
  });

  it('never forget a call that is under way, however many windows have passed (E04)', async () => {
    const grants = { express: 0, reached: 0, pumped: 0, spare: 0 };
    const limits = { rpm: 100, tpm: 0, tpd: 0, inflight: 2 };
    const twins = new Twins(connections.get('commands'), new Map([['m', { limits, headroom: 0 }]]), grants);
    await twins.setClock();
    for (let at = 0; at < 2; at++) await twins.enter(0, ['m'], 1000, 1, true);
    for (let passed = 0; passed < 130_000; passed += TIMINGS.leaseMs / 4) {
      await twins.pass(TIMINGS.leaseMs / 4);
      for (const call of twins.granted.keys()) await twins.renew(call);
      await twins.enter(0, ['m'], 1, 1, true);
    }
    expect(grants).toEqual({ express: 2, reached: 0, pumped: 0, spare: 0 });
    for (const call of twins.granted.keys()) await twins.release(call, 1, { end: 'success', observed: undefined });
    await twins.pass(2);
    await twins.enter(0, ['m'], 1000, 1, true);
    expect(grants.express).toBe(3);
  });

  it.each(
    Object.entries({
      ADMIT,
      BEAT,
      ENTER,
      EXPLAIN,
      INSPECT,
      REACH,
      REBOOK,
      RELEASE,
      RENEW,
      SPARE,
      SURVEY,
      SWEEP,
      WITHDRAW,
    }),
  )('%s touches only keys that are handed in, all under one hash tag', (_, lua) => {
    for (const [, key] of lua.matchAll(/redis\.call\('[A-Z]+', ([^,)]+)/g)) {
      expect(key).toMatch(
        /^(LAW|TICKETS|WAITS|REACHED|LEASES|WORKERS|BUCKETS|QUEUES\[[\w.]+\]|key|CHANNEL \.\. record\.worker)$/,
      );
    }
    expect(new Set(keysOf('p').map(key => /^\{p\}:/.exec(key)?.[0]))).toEqual(new Set(['{p}:']));
  });
});
