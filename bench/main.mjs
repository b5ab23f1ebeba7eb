// `npm run bench [-- --only hit,miss] [--short] [--json] [--profile FOLDER]`: measures the gateway against floors taken in the
// same run, and how it keeps the limits of a provider. `--only` takes measurements or whole reports (`gateway`, `quota`,
// `survival`; `peers`: programs of others, which are installed for it and so measured only when asked for).
// A whole report is kept in docs/benchmarks, and parts of one that is kept are replaced in it; short ones only print.
// `--json`: for programs.
import { ensureRedis } from '../scripts/redis.mjs';
import { commandLine, ensureBuilt, ensureInstalled, stop } from '../scripts/workspace.mjs';

/** What each report takes: a run that counts, and one that shows whether all of it works. */
const LONG = {
  gateway: { windows: 5, seconds: 4, calls: 200, amount: 100_000 },
  peers: { windows: 4, seconds: 4, calls: 200, waves: 5 },
  quota: {
    seconds: 4,
    useSeconds: 180,
    lowWaiting: 10_000,
    criticalCalls: 500,
    bursts: 20,
    growthPeriod: 9,
    growthPeriods: 20,
    limitSeconds: 180,
  },
  survival: { windows: 4, calls: 200, rounds: 5, perSecond: 50, seconds: 20 },
};
const SHORT = {
  gateway: { windows: 2, seconds: 1, calls: 50, amount: 10_000 },
  peers: { windows: 1, seconds: 1, calls: 50, waves: 2 },
  quota: {
    seconds: 1,
    useSeconds: 20,
    lowWaiting: 2_000,
    criticalCalls: 20,
    bursts: 3,
    growthPeriod: 4,
    growthPeriods: 5,
    limitSeconds: 25,
  },
  survival: { windows: 1, calls: 50, rounds: 2, perSecond: 20, seconds: 4 },
};

const { values } = commandLine('npm run bench -- [--only NAME,NAME] [--short] [--json] [--profile FOLDER]', {
  options: {
    only: { type: 'string' },
    short: { type: 'boolean' },
    json: { type: 'boolean' },
    profile: { type: 'string' },
  },
});
ensureInstalled();
ensureBuilt();
ensureRedis();

// What needs installed packages is loaded only now.
const [{ Scene }, { pinThisProcess }, { REPORTS, report, today }, { withKept, writeReport }, { ensurePortkey }] =
  await Promise.all([
    import('./scene.mjs'),
    import('./processes.mjs'),
    import('./report.mjs'),
    import('./kept.mjs'),
    import('./peers/portkey.mjs'),
  ]);
const measurements = {
  gateway: {
    hit: (await import('./hit.mjs')).measureHit,
    semantic: (await import('./semantic.mjs')).measureSemantic,
    miss: (await import('./miss.mjs')).measureMiss,
    streaming: (await import('./streaming.mjs')).measureStreaming,
    memory: (await import('./memory.mjs')).measureMemory,
  },
  quota: {
    decisions: (await import('./quota/decisions.mjs')).measureDecisions,
    requests: (await import('./quota/use.mjs')).measureRequests,
    tokens: (await import('./quota/use.mjs')).measureTokens,
    priority: (await import('./quota/priority.mjs')).measurePriority,
    growth: (await import('./quota/growth.mjs')).measureGrowth,
    limits: (await import('./quota/limits.mjs')).measureLimits,
  },
  survival: {
    'dead-model': (await import('./survival/dead-model.mjs')).measureDeadModel,
    recovery: (await import('./survival/recovery.mjs')).measureRecovery,
    outage: (await import('./survival/outage.mjs')).measureOutage,
    kill: (await import('./survival/kill.mjs')).measureKill,
  },
  peers: {
    'pass-through': (await import('./peers/pass-through.mjs')).measurePassThrough,
    streams: (await import('./peers/pass-through.mjs')).measureStreams,
    refusals: (await import('./peers/refusals.mjs')).measureRefusals,
  },
};

// The programs of others are installed only for those who ask for them.
const wanted = values.only?.split(',') ?? Object.keys(measurements).filter(name => name !== 'peers');
const known = [...Object.keys(measurements), ...Object.values(measurements).flatMap(Object.keys)];
const unknown = wanted.find(name => !known.includes(name));
if (unknown !== undefined) stop(`There is no measurement ${unknown}: choose among ${known.join()}.`);
const settings = values.short ? SHORT : LONG;

if (['peers', ...Object.keys(measurements.peers)].some(name => wanted.includes(name))) ensurePortkey();
pinThisProcess();
for (const [name, parts] of Object.entries(measurements)) {
  const whole = wanted.includes(name);
  const chosen = Object.keys(parts).filter(part => whole || wanted.includes(part));
  if (chosen.length === 0) continue;
  const fresh = {};
  for (const part of chosen) fresh[part] = await measure(part, parts[part], settings[name]);
  const results = Object.values(fresh);
  if (values.json) {
    console.log(JSON.stringify(results));
    continue;
  }
  console.log(report(results, REPORTS[name], settings[name]));
  const all = values.short ? null : withKept(name, fresh, Object.keys(parts));
  if (all !== null) await writeReport(name, report(all, REPORTS[name], settings[name]));
}

async function measure(name, take, amounts) {
  console.error(`Measuring: ${name} …`);
  const scene = new Scene({ profiles: values.profile });
  try {
    return { measuredOn: today(), ...(await take(scene, amounts)) };
  } finally {
    await scene.close();
  }
}
