import { fileURLToPath } from 'node:url';
import { connect } from 'node:net';
import { run } from '../processes.mjs';
import { atLeast, atMost } from '../targets.mjs';

const DECIDER = fileURLToPath(new URL('decider.mjs', import.meta.url));
const PACE = 10_000;
/** What a model may take in Redis, whatever number of calls it has seen. */
const MOST_BYTES = 200_000;

/** The law as one client process asks it: by Redis beside a script that does nothing, and in memory. */
export async function measureDecisions(scene, { seconds }) {
  const redis = await scene.redis();
  const take = (by, rate) => run({ args: [DECIDER, by, redis.url, rate, seconds].map(String), core: 'measured' });
  const floorPaced = await take('floor', PACE);
  const floor = await take('floor', 0);
  const paced = await take('redis', PACE);
  const before = await bytesOfModel(redis.port);
  const most = await take('redis', 0);
  const after = await bytesOfModel(redis.port);
  const memory = await take('memory', 0);
  const rows = [
    { name: `empty script, ${PACE} a second`, ...floorPaced },
    { name: `Redis, ${PACE} a second`, ...paced, bytes: before },
    { name: 'empty script, at most', ...floor },
    { name: 'Redis, at most', ...most, bytes: after },
    { name: 'memory, at most', ...memory },
  ];
  return {
    title: 'Decisions',
    note: 'A decision takes a permit, or gives one back: every script that decides by RPM, TPM, TPD and calls in flight.',
    rows,
    verdicts: [
      atMost(
        `decision by Redis at ${PACE} a second: p99, ms`,
        paced.p99,
        4,
        `an empty script: ${floorPaced.p99.toFixed(2)} ms.`,
      ),
      atLeast('decisions by Redis a second', most.perSecond, 25_000),
      atMost('bytes of a model in Redis', after, MOST_BYTES),
      atLeast('decisions in memory a second', memory.perSecond, 500_000),
    ],
  };
}

/** Bytes of what is kept of a model, beside its calls under way. */
async function bytesOfModel(port) {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.setEncoding('utf8').on('data', part => (text += part));
  for (const name of ['law', 'buckets']) socket.write(`MEMORY USAGE {bench}:${name} SAMPLES 0\r\n`);
  socket.end('QUIT\r\n');
  await new Promise((resolve, reject) => socket.once('close', resolve).once('error', reject));
  return [...text.matchAll(/^:(\d+)/gm)].reduce((sum, [, bytes]) => sum + Number(bytes), 0);
}
