import { setMaxListeners } from 'node:events';
import { pause } from '../processes.mjs';
import { atLeast } from '../targets.mjs';
import { idealCalls } from './ideal.mjs';
import { startInstallation } from './installation.mjs';

const SERVICE_MS = 800;
const TOKENS = 120;
const CLASSES = [
  ['critical', 0.25],
  ['normal', 0.45],
  ['low', 0.3],
];

/**
 * All limits at once, at three times what they let through: two gateways and a worker on one Redis. `growth` binds first,
 * then calls in flight or requests a minute.
 */
export async function measureLimits(scene, { limitSeconds }) {
  const limits = { rpm: 600, tpm: 110_000, tpd: 10_000_000, inflight: 12 };
  const growth = { max_ratio: 0.2, per_s: Math.max(10, Math.round(limitSeconds / 9)), floor_rps: 8 };
  const simulated = {
    limits: { ...limits, growth },
    latency: { first_token_ms: SERVICE_MS, tokens_per_s: 0, jitter: 0.2 },
    answer: { mode: 'lengths', tokens: { min: TOKENS / 2, max: (TOKENS * 3) / 2 } },
  };
  const installation = await startInstallation(scene, {
    simulated,
    model: { limits, growth },
    roles: ['gateway', 'gateway', 'worker'],
    priorities: {
      critical: { max_wait_ms: 5_000 },
      normal: { max_wait_ms: 15_000, min_share: 0.1 },
      low: { max_wait_ms: 60_000, min_share: 0.05 },
    },
  });
  const seconds = limitSeconds;
  const ideal = idealCalls(
    { limits: { ...limits, growth }, window_s: 60, day_s: 86_400 },
    { seconds, callMs: SERVICE_MS, tokens: TOKENS + 12 },
  );
  const end = new AbortController();
  const watching = installation.watchStatus(end.signal);
  const { answers, provider } = await demand(installation, (3 * ideal.length) / seconds, seconds);
  end.abort();
  const samples = await watching;
  installation.close();
  const binding = countBy(samples);
  const used = provider.accepted / ideal.length;
  const explained = 1 - (binding.get('unexplained') ?? 0) / Math.max(1, samples.length);
  return {
    title: 'All limits at three times the capacity',
    note:
      `Two gateways and a worker, ${seconds} s: ${limits.rpm} RPM, ${limits.tpm} TPM, ${limits.tpd} TPD, ` +
      `${limits.inflight} in flight, growth of a fifth in ${growth.per_s} s. Used: calls that the provider took, of those ` +
      'that its limits would take from callers who know them exactly. ' +
      `What bound while calls waited, in ${samples.length} looks at \`/admin/status\`: ` +
      `${[...binding].map(([limit, count]) => `${limit} ${count}`).join(', ')}. Answers: ` +
      `${[...answers].map(([status, count]) => `${count} × ${status}`).join(', ')}.`,
    rows: [
      {
        name: 'two gateways and a worker',
        calls: provider.accepted,
        refused: provider.refused,
        refusedBy: provider.refusedBy,
        used,
        peakInflight: provider.peakInflight,
        local: provider.local,
      },
    ],
    verdicts: [
      installation.kept('all limits: calls refused by the provider', provider.refused),
      atLeast('all limits: used of what they allow together', used, 0.95),
      atLeast('all limits: share of the looks that told what binds', explained, 0.99),
    ],
  };
}

/** Callers who come at a given rate for so long; how many calls ended with which status, and what the provider counted. */
async function demand(installation, perSecond, seconds) {
  const answers = new Map();
  const calls = [];
  const startedAt = performance.now();
  const end = new AbortController();
  setMaxListeners(0, end.signal);
  const ask = async priority => {
    const { status } = await installation.ask(priority, { signal: end.signal }).catch(() => ({ status: 'given up' }));
    answers.set(status, (answers.get(status) ?? 0) + 1);
  };
  for (let made = 0; performance.now() - startedAt < seconds * 1000;) {
    for (; made < (perSecond * (performance.now() - startedAt)) / 1000; made++) calls.push(ask(classOf(made)));
    await pause(5);
  }
  // Before all of them leave at once.
  const provider = await installation.provider();
  end.abort();
  await Promise.all(calls);
  return { answers, provider };
}

/** Spreads the classes evenly over the calls, by the golden ratio. */
function classOf(call) {
  let position = (call * 0.618_033_988_75) % 1;
  for (const [name, share] of CLASSES) if ((position -= share) < 0) return name;
  return 'low';
}

function countBy(samples) {
  const counts = new Map();
  for (const sample of samples) counts.set(sample, (counts.get(sample) ?? 0) + 1);
  return counts;
}
