import { pause } from '../processes.mjs';
import { atLeast } from '../targets.mjs';
import { startInstallation } from './installation.mjs';

const RPM = 600;
const TPM = 150_000;
const CALLERS = 1000;
const WINDOW_MS = 60_000;

/** How much of a limit on calls is used while somebody always waits. */
export async function measureRequests(scene, settings) {
  const limits = { rpm: RPM };
  const run = await underBacklog(scene, settings, {
    simulated: { limits, latency: { first_token_ms: 200, tokens_per_s: 0 } },
    model: { limits },
  });
  const used = meanFill(run.series, one => one.accepted) / RPM;
  return {
    title: 'Use of a limit on requests',
    note: NOTE,
    rows: [{ name: `${RPM} RPM, two gateways`, ...run.counts, used }],
    verdicts: [
      atLeast('requests: used of the admitted limit', used, 0.97),
      run.kept('requests: calls refused by the provider', run.counts.refused),
    ],
  };
}

/** How much of a limit on tokens is used while nobody knows how long an answer will be. */
export async function measureTokens(scene, settings) {
  const limits = { tpm: TPM };
  const tokens = { min: 5, max: 4000, lognormal: { median: 200, sigma: 0.9 } };
  const run = await underBacklog(scene, settings, {
    simulated: {
      limits,
      latency: { first_token_ms: 100, tokens_per_s: 500 },
      answer: { mode: 'lengths', tokens },
    },
    model: { limits },
  });
  const used = meanFill(run.series, one => one.tokens) / TPM;
  const refusedShare = run.counts.refused / (run.counts.calls + run.counts.refused);
  return {
    title: 'Use of a limit on tokens',
    note: NOTE,
    rows: [{ name: `${TPM} TPM, answers of 5 to 4000 tokens, two gateways`, ...run.counts, used }],
    verdicts: [
      atLeast('tokens: used of the admitted limit', used, 0.9),
      run.kept('tokens: share of calls refused by the provider', refusedShare, 0.001),
    ],
  };
}

const NOTE = `Used: what the last 60 s held, as the provider counted it, on average over the time after the first minute.`;

async function underBacklog(scene, { useSeconds }, settings) {
  const installation = await startInstallation(scene, settings);
  const end = new AbortController();
  const asking = installation.keepAsking('normal', CALLERS, end.signal);
  const watching = installation.watchProvider(end.signal);
  await pause(useSeconds * 1000);
  end.abort();
  const [series] = await Promise.all([watching, asking]);
  const provider = await installation.provider();
  installation.close();
  const { accepted: calls, refused, refusedBy, local } = provider;
  return { series, counts: { calls, refused, refusedBy, local }, kept: installation.kept.bind(installation) };
}

/** What a trailing minute held on average, from the first whole one on; of a shorter run all that it held. */
function meanFill(series, read) {
  const first = series.find(one => read(one) > 0)?.ms ?? 0;
  const whole = series.filter(one => one.ms >= first + WINDOW_MS);
  if (whole.length === 0) return read(series.at(-1));
  let from = 0;
  const fills = whole.map(one => {
    while (series[from + 1].ms <= one.ms - WINDOW_MS) from += 1;
    return read(one) - read(series[from]);
  });
  return fills.reduce((sum, fill) => sum + fill, 0) / fills.length;
}
