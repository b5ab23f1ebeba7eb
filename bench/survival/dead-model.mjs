import { latency } from '../load.mjs';
import { freePort } from '../processes.mjs';
import { newChatBody } from '../requests.mjs';
import { atMost } from '../targets.mjs';
import { openUp } from './scenery.mjs';

/** No probe falls into the measurement. */
const BREAKER = { consecutive_failures: 3, open_min_s: 600, open_max_s: 600 };

/** What a call costs more where the first model of its chain is dead, once its breaker is open. */
export async function measureDeadModel(scene, { windows, calls }) {
  const { port } = await scene.upstream();
  const gone = await freePort();
  const gateway = await scene.spillway({
    redis: await scene.redis(),
    configuration: {
      providers: {
        bench: { base_url: `http://127.0.0.1:${port}/v1` },
        gone: { base_url: `http://127.0.0.1:${gone}/v1` },
      },
      models: { bench: { provider: 'bench' }, dead: { provider: 'gone', breaker: BREAKER } },
      routes: {
        assistant: { chain: ['dead', 'bench'], cache: { exact: false, semantic: false } },
        removed: { chain: ['bench'], cache: { exact: false, semantic: false } },
      },
    },
  });
  await openUp(gateway, 'dead');
  const targets = [
    { name: 'the dead model removed', server: gateway, body: () => newChatBody({ model: 'removed' }) },
    { name: 'dead first model, breaker open', server: gateway, body: newChatBody },
  ];
  const times = await latency(targets, { windows, calls });
  const rows = times.map(row => ({ ...row, added: row.p50 - times[0].p50 }));
  const [removed, dead] = rows;
  return {
    title: 'A dead first model',
    note: 'Nobody listens at its address. One gateway with Redis, two routes.',
    rows,
    verdicts: [
      atMost('dead first model: added p50, ms', dead.added, 5),
      atMost('dead first model: added p99, ms', dead.p99 - removed.p99, 5),
    ],
  };
}
