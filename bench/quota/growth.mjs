import { pause } from '../processes.mjs';
import { atLeast } from '../targets.mjs';
import { idealCalls } from './ideal.mjs';
import { startInstallation } from './installation.mjs';

const STEP = 40;
const CALLERS = 500;
const SERVICE_MS = 50;

/**
 * Demand rises to 40 times at once where a provider forbids to grow by more than a fifth in 3 minutes; those 3 minutes
 * are compressed to `growthPeriod`.
 */
export async function measureGrowth(scene, { growthPeriod, growthPeriods }) {
  const growth = { max_ratio: 0.2, per_s: growthPeriod, floor_rps: 5 };
  const simulated = { limits: { growth }, latency: { first_token_ms: SERVICE_MS, tokens_per_s: 0 } };
  const installation = await startInstallation(scene, { simulated, model: { growth } });
  const calmMs = 2 * growthPeriod * 1000;
  const end = new AbortController();
  const calm = setInterval(() => void installation.ask('normal').catch(() => undefined), 1000 / growth.floor_rps);
  await pause(calmMs);
  clearInterval(calm);
  const before = await installation.provider();
  const asking = installation.keepAsking('normal', CALLERS, end.signal);
  const seconds = growthPeriods * growthPeriod;
  await pause(seconds * 1000);
  const after = await installation.provider();
  end.abort();
  await asking;
  installation.close();
  const ideal = idealCalls(
    { limits: { rpm: 0, tpm: 0, tpd: 0, inflight: 0, growth }, window_s: 60, day_s: 86_400 },
    { seconds: calmMs / 1000 + seconds, tokens: 1, rates: [{ until: calmMs / 1000, perSecond: growth.floor_rps }] },
  );
  const calls = after.accepted - before.accepted;
  const calmCalls = ideal.filter(ms => ms < calmMs).length;
  const speed = (ideal[Math.min(calmCalls + calls, ideal.length) - 1] - calmMs) / 1000 / seconds;
  return {
    title: `Demand rises ${STEP}-fold`,
    note:
      `A period of ${growthPeriod} s stands for 3 minutes; the rise is watched for ${growthPeriods} of them. The fastest ` +
      `ramp that the rule of the provider allows takes ${ideal.length - calmCalls} calls in that time. Speed: the time in ` +
      'which it takes as many calls as were made, over the time in which they were made.',
    rows: [
      { name: 'two gateways', calls, refused: after.refused, refusedBy: after.refusedBy, local: after.local, speed },
    ],
    verdicts: [
      atLeast('growth: speed of the fastest ramp', speed, 0.9),
      installation.kept('growth: calls refused by the provider', after.refused),
    ],
  };
}
