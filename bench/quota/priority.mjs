import { pause } from '../processes.mjs';
import { percentile } from '../statistics.mjs';
import { atMost } from '../targets.mjs';
import { startInstallation } from './installation.mjs';

const INFLIGHT = 20;
const RESERVE = 4;
const SERVICE_MS = 500;

/** How long CRITICAL calls wait behind very many LOW ones: as many as are kept free for them, and more than that. */
export async function measurePriority(scene, { lowWaiting, criticalCalls, bursts }) {
  const installation = await startInstallation(scene, {
    simulated: { limits: { inflight: INFLIGHT }, latency: { first_token_ms: SERVICE_MS, tokens_per_s: 0 } },
    model: { limits: { inflight: INFLIGHT } },
    priorities: { low: { share: 1 - RESERVE / INFLIGHT } },
  });
  const end = new AbortController();
  const low = installation.keepAsking('low', lowWaiting + INFLIGHT, end.signal);
  while ((await installation.status()).queues.low < lowWaiting * 0.99) await pause(500);
  const within = [];
  for (let call = 0; call < criticalCalls; call++) within.push(await waitOf(installation));
  const above = [];
  for (let burst = 0; burst < bursts; burst++) {
    above.push(...(await Promise.all(Array.from({ length: 2 * RESERVE }, () => waitOf(installation)))));
    await pause(2 * SERVICE_MS);
  }
  const { refused, refusedBy, local } = await installation.provider();
  const { low: lowLeft } = (await installation.status()).queues;
  end.abort();
  await low;
  installation.close();
  const row = (name, waits) => ({
    name,
    calls: waits.length,
    waitP50: percentile(waits, 0.5),
    waitP99: percentile(waits, 0.99),
    lowLeft,
    refused,
    refusedBy,
    local,
  });
  const [one, many] = [row('within the reserve', within), row('bursts of twice the reserve', above)];
  return {
    title: `CRITICAL behind ${lowWaiting} waiting LOW calls`,
    note: `${INFLIGHT} calls in flight, of which ${RESERVE} are out of reach of LOW; a call takes ${SERVICE_MS} ms.`,
    rows: [one, many],
    verdicts: [
      atMost('CRITICAL within its reserve: p50 of the wait, ms', one.waitP50, 3),
      atMost('CRITICAL within its reserve: p99 of the wait, ms', one.waitP99, 20),
      atMost('CRITICAL above its reserve: longest wait, ms', Math.max(...above), SERVICE_MS + 50),
      installation.kept('CRITICAL behind LOW: calls refused by the provider', refused),
    ],
  };
}

async function waitOf(installation) {
  const { status, waitedMs } = await installation.ask('critical');
  if (status !== 200) throw new Error(`A critical call was answered with ${status}.`);
  return waitedMs;
}
