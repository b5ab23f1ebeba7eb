import { Agent } from 'node:http';
import { pause } from '../processes.mjs';
import { percentile } from '../statistics.mjs';
import { atMost } from '../targets.mjs';
import { critical, openUp, twoModels, until } from './scenery.mjs';

const OPEN_S = 1;
const ASK_EVERY_MS = 20;

/** How long it takes from the opening of a breaker, whose model is well again at once, to the first call it answers. */
export async function measureRecovery(scene, { rounds }) {
  const breaker = { consecutive_failures: 3, open_min_s: OPEN_S };
  const { configuration, configure } = await twoModels(scene, { latencyMs: 20, breaker });
  const gateway = await scene.spillway({ redis: await scene.redis(), configuration });
  const agent = new Agent({ keepAlive: true });
  const times = [];
  for (let round = 0; round < rounds; round++) {
    await configure('first', { faults: [{ kind: 'status', status: 500 }] });
    const openedAt = await openUp(gateway, 'first');
    await configure('first', { faults: [] });
    while ((await critical(gateway.port, agent)).model !== 'first') await pause(ASK_EVERY_MS);
    times.push(Date.now() - openedAt);
    await until(gateway, '/admin/status', ({ models }) => models.first.health.state === 'closed');
  }
  agent.destroy();
  const longest = Math.max(...times);
  return {
    title: 'Recovery of a model',
    note: `From the opening of its breaker (\`open_min_s: ${OPEN_S}\`) to the first call that it answers; one call after the other.`,
    rows: [{ name: 'recovery', calls: rounds, p50: percentile(times, 0.5), longest }],
    verdicts: [atMost('recovery: longest beyond the open time, ms', longest - OPEN_S * 1000, 1000)],
  };
}
