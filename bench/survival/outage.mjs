import { atLeast, atMost } from '../targets.mjs';
import { flow, flowRow, twoModels, until } from './scenery.mjs';

const LATENCY_MS = 100;

const isWhole = ({ status }) => status === 'ok';

/** CRITICAL calls while Redis stands still, and while it is gone. */
export async function measureOutage(scene, { perSecond, seconds }) {
  const { configuration } = await twoModels(scene, { latencyMs: LATENCY_MS });
  const redis = await scene.redis();
  const gateway = await scene.spillway({ redis, configuration });
  await until(gateway, '/readyz', isWhole);
  const amount = { perSecond, seconds };
  await flow(gateway, { perSecond, seconds: 2 });
  const normal = flowRow('normal', await flow(gateway, amount));
  process.kill(redis.pid, 'SIGSTOP');
  const frozen = flowRow('Redis frozen', await flow(gateway, amount));
  process.kill(redis.pid, 'SIGCONT');
  await until(gateway, '/readyz', isWhole);
  process.kill(redis.pid, 'SIGKILL');
  const killed = flowRow('Redis killed', await flow(gateway, amount));
  return {
    title: 'CRITICAL calls without Redis',
    note: `${perSecond} calls a second of a model that takes ${LATENCY_MS} ms; the outage begins with the first of them.`,
    rows: [normal, frozen, killed],
    verdicts: [frozen, killed].flatMap(row => [
      atLeast(`${row.name}: CRITICAL answered, %`, row.answered * 100, 99.9),
      atMost(`${row.name}: p95 ÷ normal`, row.p95 / normal.p95, 1.5),
    ]),
  };
}
