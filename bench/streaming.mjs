import { Agent } from 'node:http';
import { latency, post } from './load.mjs';
import { cpuMicroseconds, pause } from './processes.mjs';
import { newChatBody } from './requests.mjs';
import { median, percentile } from './statistics.mjs';
import { atMost } from './targets.mjs';

const STREAMS = 100;
const CHUNKS_PER_S = 50;
const SENT_AT = /"content":"@(\d+)/g;

/** Streams of a model: time to the first token, and the delay of chunks when many streams run at once. */
export async function measureStreaming(scene, { windows, seconds, calls }) {
  const redis = await scene.redis();
  const targets = [
    { name: 'the model itself (direct)', server: await scene.upstream() },
    { name: 'Spillway, express, Redis', server: await scene.gateway({ redis }) },
  ];
  // Many streams first: as with whole answers, times are those of a process that has long been at work.
  const delays = await chunkDelays(targets, { windows, seconds });
  const first = await latency(targets, {
    windows,
    calls: Math.ceil(calls / 4),
    body: () => newChatBody({ stream: true, max_tokens: 2 }),
    measure: firstToken,
  });
  const rows = first.map((times, index) => ({ ...times, added: times.p50 - first[0].p50, ...delays[index] }));
  const [, streamed] = rows;
  return {
    title: 'Streaming',
    rows,
    verdicts: [
      atMost('streaming: added time to first token, p50, ms', streamed.added, 3),
      atMost(`streaming: delay of a chunk at ${STREAMS} × ${CHUNKS_PER_S}/s, p99, ms`, streamed.chunkP99, 20),
    ],
  };
}

/** Milliseconds until the first token of a stream is there. */
export function firstToken(call) {
  const startedAt = performance.now();
  return post(call, (response, resolve) => {
    let took = NaN;
    response.setEncoding('utf8').on('data', text => {
      if (Number.isNaN(took) && text.includes('"content":"@')) took = performance.now() - startedAt;
    });
    response.on('end', () => resolve(took));
  });
}

async function chunkDelays(targets, { windows, seconds }) {
  const taken = new Map(targets.map(target => [target, []]));
  for (let window = 0; window < windows; window++) {
    for (const target of targets) taken.get(target).push(await manyStreams(target, seconds * CHUNKS_PER_S));
  }
  return targets.map(target => {
    const middle = read => median(taken.get(target).map(read));
    return {
      chunkP50: middle(({ delays }) => percentile(delays, 0.5)),
      chunkP99: middle(({ delays }) => percentile(delays, 0.99)),
      chunkCpu: middle(({ cpu }) => cpu),
    };
  });
}

/** Streams that run at the same time, their chunks spread evenly. @throws when a chunk is missing */
async function manyStreams({ server }, chunks) {
  const agent = new Agent({ keepAlive: true, maxSockets: STREAMS });
  const before = cpuMicroseconds(server.pid);
  const streams = [];
  for (let stream = 0; stream < STREAMS; stream++) {
    streams.push(oneStream({ port: server.port, agent, body: newChatBody({ stream: true, max_tokens: chunks }) }));
    // Not on the beat of the chunks, so that the streams do not all speak at once.
    await pause(3);
  }
  const delays = (await Promise.all(streams)).flat();
  const cpu = (cpuMicroseconds(server.pid) - before) / delays.length;
  agent.destroy();
  if (delays.length !== STREAMS * chunks) throw new Error(`${STREAMS * chunks - delays.length} chunks are missing.`);
  return { delays, cpu };
}

/** Milliseconds that each chunk of one stream took from the model to here. */
function oneStream(call) {
  return post(call, (response, resolve) => {
    const delays = [];
    let rest = '';
    response.setEncoding('utf8').on('data', text => {
      const now = process.hrtime.bigint();
      const end = (rest + text).lastIndexOf('\n') + 1;
      for (const [, sentAt] of (rest + text).slice(0, end).matchAll(SENT_AT)) {
        delays.push(Number(now - BigInt(sentAt)) / 1_000_000);
      }
      rest = (rest + text).slice(end);
    });
    response.on('end', () => resolve(delays));
  });
}
