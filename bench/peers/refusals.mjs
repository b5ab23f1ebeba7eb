import { Agent, request as httpRequest } from 'node:http';
import { pause } from '../processes.mjs';
import { newChatBody } from '../requests.mjs';
import { percentile } from '../statistics.mjs';
import { atLeast, atMost } from '../targets.mjs';
import { portkeyHeaders, startPortkey } from './portkey.mjs';

const MODEL = 'bench';
/** Of Spillway, without caches. */
const ROUTE = 'uncached';
/** Calls that the model takes at the same time: 40 a second. */
const INFLIGHT = 4;
/** Fewer than it takes until the next wave. */
const WAVE = 60;
const WAVE_EVERY_MS = 2000;
const ANSWER_MS = 100;
const PATIENCE_MS = 10_000;
const ATTEMPTS = 5;

/** Waves that are larger than a model's limit but not more than it can take in time: who is answered? */
export async function measureRefusals(scene, { windows, waves }) {
  const targets = await contestants(scene);
  for (let window = 0; window < windows; window++) {
    for (const target of targets) {
      target.replies.push(...(await inWaves(target, waves)));
      // The next one starts with the model rested, and never beside this one.
      await pause(WAVE_EVERY_MS);
    }
  }
  const rows = [];
  for (const { name, replies, simulator } of targets) {
    const answered = replies.filter(({ status }) => status === 200);
    const times = replies.map(({ status, ms }) => (status === 200 ? ms : Infinity));
    const { accepted, refused } = await statsOf(simulator);
    rows.push({
      name,
      calls: replies.length,
      answered: answered.length / replies.length,
      upstreamCalls: (accepted + refused) / replies.length,
      refused,
      waitP50: finite(percentile(times, 0.5)),
      waitP95: finite(percentile(times, 0.95)),
    });
  }
  const own = rows.at(-1);
  const best = Math.max(...rows.slice(0, -1).map(({ answered }) => answered));
  return {
    title: 'Waves against a limit',
    note:
      `A model that takes ${INFLIGHT} calls at the same time and answers in ${ANSWER_MS} ms gets waves of ${WAVE} every ` +
      `${WAVE_EVERY_MS / 1000} s (an open loop: a wave does not wait for the one before). Callers repeat nothing and wait ` +
      `${PATIENCE_MS / 1000} s. Portkey is taken as it is and with its own ${ATTEMPTS} repeats; Spillway is told the limit.`,
    rows,
    verdicts: [
      atLeast('answered, Spillway', own.answered, 0.999),
      atLeast('answered, Spillway − best of the others', own.answered - best, 0),
      atMost('calls refused by the model, Spillway', own.refused, 0),
    ],
  };
}

async function contestants(scene) {
  const limits = { inflight: INFLIGHT };
  const simulated = {
    [MODEL]: {
      limits,
      latency: { first_token_ms: ANSWER_MS, tokens_per_s: 0 },
    },
  };
  const portkey = await startPortkey();
  const kinds = [
    ['no gateway', simulator => ({ server: simulator })],
    [
      'Fastify + undici',
      async simulator => ({
        server: await scene.yardstick('proxy', simulator),
      }),
    ],
    [
      'Portkey gateway',
      simulator => ({
        server: portkey,
        headers: portkeyHeaders(simulator.port),
      }),
    ],
    [
      `Portkey gateway, ${ATTEMPTS} repeats`,
      simulator => ({
        server: portkey,
        headers: portkeyHeaders(simulator.port, ATTEMPTS),
      }),
    ],
    [
      'Spillway',
      async simulator => ({
        server: await scene.spillway({
          configuration: configuration(simulator),
        }),
        model: ROUTE,
      }),
    ],
  ];
  const targets = [];
  for (const [name, make] of kinds) {
    const simulator = await scene.simulator(simulated);
    targets.push({ name, simulator, replies: [], ...(await make(simulator)) });
  }
  return targets;
}

function configuration({ port }) {
  return {
    providers: { bench: { base_url: `http://127.0.0.1:${port}/v1` } },
    models: {
      [MODEL]: {
        provider: 'bench',
        limits: { inflight: INFLIGHT },
        headroom: 0,
      },
    },
    routes: {
      [ROUTE]: { chain: [MODEL], cache: { exact: false, semantic: false } },
    },
    cache: { coalesce: false },
  };
}

async function inWaves(target, waves) {
  const agent = new Agent({ keepAlive: true });
  const replies = [];
  for (let wave = 0; wave < waves; wave++) {
    for (let call = 0; call < WAVE; call++) replies.push(ask(target, agent));
    await pause(WAVE_EVERY_MS);
  }
  const ended = await Promise.all(replies);
  agent.destroy();
  return ended;
}

function ask({ server, headers, model = MODEL }, agent) {
  const startedAt = performance.now();
  const body = newChatBody({ model });
  return new Promise(resolve => {
    const end = status => resolve({ status, ms: performance.now() - startedAt });
    const outgoing = httpRequest(
      {
        port: server.port,
        host: '127.0.0.1',
        path: '/v1/chat/completions',
        method: 'POST',
        agent,
        signal: AbortSignal.timeout(PATIENCE_MS),
        headers: {
          'content-type': 'application/json',
          authorization: 'Bearer bench',
          'content-length': Buffer.byteLength(body),
          ...headers,
        },
      },
      response => {
        response.on('error', () => end(null));
        response.resume().on('end', () => end(response.statusCode));
      },
    );
    outgoing.on('error', () => end(null)).end(body);
  });
}

async function statsOf({ port }) {
  const response = await fetch(`http://127.0.0.1:${port}/control/stats`);
  const { [MODEL]: stats } = await response.json();
  return {
    accepted: stats?.accepted ?? 0,
    refused: Object.values(stats?.refused ?? {}).reduce((sum, one) => sum + one, 0),
  };
}

function finite(value) {
  return Number.isFinite(value) ? value : NaN;
}
