import { atMost } from '../targets.mjs';
import { flow, flowRow, twoModels, until } from './scenery.mjs';

const LATENCY_MS = 100;
/** Of each model. A burst finds some waiting, which either worker has reached. */
const INFLIGHT = 20;
const BURST = 80;
const KILLED_AFTER_MS = 50;

const isWhole = ({ status }) => status === 'ok';

/** CRITICAL calls while one of two processes is killed: a worker that hands out turns, and a gateway beside another. */
export async function measureKill(scene, amount) {
  const worker = await killed(scene, amount, { survivor: 'gateway', others: ['worker', 'worker'] });
  const gateway = await killed(scene, amount, { survivor: 'all', others: ['all'] });
  const [worst, beside] = [flowRow('one of two workers killed', worker), flowRow('the other gateway killed', gateway)];
  return {
    title: 'CRITICAL calls when a process is killed',
    note: `${amount.perSecond} calls a second of a model that takes ${LATENCY_MS} ms, all through the queue; halfway ${BURST} at once for ${2 * INFLIGHT} places, and SIGKILL ${KILLED_AFTER_MS} ms later. Of the gateways both have these calls, and those of the survivor are counted.`,
    rows: [worst, beside],
    verdicts: [
      atMost('a worker killed: CRITICAL calls lost', worst.lost, 0),
      atMost('a worker killed: longest call beyond the model, ms', worst.longest - LATENCY_MS, 1000),
      atMost('a gateway killed: CRITICAL calls of the other lost', beside.lost, 0),
    ],
  };
}

async function killed(scene, { perSecond, seconds }, { survivor: role, others }) {
  const redis = await scene.redis();
  const { configuration } = await twoModels(scene, {
    latencyMs: LATENCY_MS,
    inflight: INFLIGHT,
    sections: { scheduling: { express: false } },
  });
  const start = role => scene.spillway({ redis, role, configuration });
  const [survivor, dying] = await Promise.all([start(role), ...others.map(start)]);
  await Promise.all([survivor, dying].map(one => until(one, '/readyz', isWhole)));
  await flow(survivor, { perSecond, seconds: 2 });
  if (role === 'all') void flow(dying, { perSecond, seconds });
  const burst = [];
  const times = await flow(survivor, { perSecond, seconds }, () => {
    burst.push(flow(survivor, { perSecond: 10_000, seconds: BURST / 10_000 }));
    setTimeout(() => process.kill(dying.pid, 'SIGKILL'), KILLED_AFTER_MS);
  });
  return [...times, ...(await Promise.all(burst)).flat()];
}
