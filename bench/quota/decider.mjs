// Decides as one process of Spillway does, and prints what it measured as JSON. Arguments: what to decide by (`redis`,
// `floor`: an empty script with the same keys, `memory`), the address of Redis, decisions a second (0: as many as
// possible), seconds.
import { createRequire } from 'node:module';
import { percentile } from '../statistics.mjs';

const built = createRequire(new URL('../../dist/libs/', import.meta.url));
const { MemoryPermits, RedisPermits } = built('./quota/src');
const { RedisChannels, RedisConnections, RedisGuard } = built('./redis/src');
const { SystemClock } = built('./contracts/src');
const { keysOf } = built('./quota/src/lua/scripts');

const [by, url, rate, seconds] = [process.argv[2], process.argv[3], Number(process.argv[4]), Number(process.argv[5])];
/** Decisions under way at the same time when nothing else limits their rate. */
const AT_ONCE = 64;
const PREFIX = 'bench';
/** Limits of all kinds, none of which is ever reached. */
const LIMITS = { rpm: 1e9, tpm: 1e12, tpd: 1e13, inflight: 1e6 };

const settings = {
  limitsOf: () => model,
  shares: () => shares,
};
const model = { limits: LIMITS, headroom: 0.2 };
const shares = Object.fromEntries(
  [
    ['critical', 1, 0],
    ['normal', 0.9, 0.1],
    ['low', 0.7, 0.05],
  ].map(([name, share, min_share]) => [name, { share, min_share }]),
);
const timings = { leaseMs: 30_000, claimMs: 5_000 };
const clock = new SystemClock();

/** One decision; `close` ends what was started. */
async function decider() {
  if (by === 'memory') {
    const permits = new MemoryPermits(settings, clock, timings);
    return { decide: takingAndGivingBack(permits), close: () => permits.onApplicationShutdown() };
  }
  const connections = new RedisConnections({ url, prefix: PREFIX });
  await connections.onModuleInit();
  if (by === 'floor') {
    const keys = keysOf(PREFIX);
    const connection = connections.get('commands');
    const sha = await connection.script('LOAD', 'return 1');
    return {
      decide: () => connection.evalsha(sha, keys.length, ...keys),
      close: () => connections.onApplicationShutdown(),
    };
  }
  const guard = new RedisGuard(connections);
  await guard.onModuleInit();
  const parts = { connections, guard, channels: new RedisChannels(connections) };
  const permits = new RedisPermits(parts, settings, clock, 'bench', timings);
  const close = async () => {
    permits.onApplicationShutdown();
    guard.onApplicationShutdown();
    await connections.onApplicationShutdown();
  };
  return { decide: takingAndGivingBack(permits), close };
}

/** Every other decision gives back the permit that an earlier one took. */
function takingAndGivingBack(permits) {
  const held = [];
  let asked = 0;
  return async () => {
    const grant = asked++ % 2 === 1 ? held.shift() : undefined;
    if (grant !== undefined) return permits.release(grant, 'success', { input: 190, output: 110 });
    const request = {
      ticket: `t${asked}-x`,
      owner: 'bench',
      priority: ['critical', 'normal', 'low'][asked % 3],
      models: ['bench'],
      turnBy: clock.now() + 5_000,
      tokens: 400,
    };
    const entry = await permits.enter(request, { express: true, queueLimit: 1000 });
    if (entry.kind !== 'granted') throw new Error(`A free permit was not granted: ${entry.kind}.`);
    held.push(entry.grant);
  };
}

let failed = 0;

/** For so long a call waits for Redis at most; while Redis is lost its decisions fail at once. */
const TOO_LATE_MS = 250;

/** A decision that came too late is one of the slowest, and no reason to stop; false: it was none. */
function countFailure(error) {
  if (error.code !== 'redis_unavailable') throw error;
  failed += 1;
  return false;
}

/** As many as possible, `AT_ONCE` at a time; those in time a second. */
async function most(decide, forMs) {
  const startedAt = performance.now();
  let decisions = 0;
  const caller = async () => {
    while (performance.now() - startedAt < forMs) {
      if ((await decide().catch(countFailure)) !== false) decisions += 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, caller));
  return { decisions, perSecond: (decisions * 1000) / (performance.now() - startedAt) };
}

/** At a given rate, whether earlier ones have come back or not; a time counts from when its decision was due. */
async function paced(decide, forMs) {
  const times = [];
  const startedAt = performance.now();
  const underWay = new Set();
  for (let due = startedAt; due < startedAt + forMs;) {
    for (; due <= performance.now(); due += 1000 / rate) {
      const since = due;
      const one = decide()
        .catch(countFailure)
        .then(made => {
          times.push(Math.max(performance.now() - since, made === false ? TOO_LATE_MS : 0));
          underWay.delete(one);
        });
      underWay.add(one);
    }
    await new Promise(setImmediate);
  }
  await Promise.all(underWay);
  const elapsed = performance.now() - startedAt;
  return {
    decisions: times.length,
    perSecond: (times.length * 1000) / elapsed,
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
  };
}

const { decide, close } = await decider();
const measure = rate === 0 ? most : paced;
await measure(decide, 1000);
failed = 0;
const taken = await measure(decide, seconds * 1000);
console.log(JSON.stringify({ ...taken, failed }));
await close();
