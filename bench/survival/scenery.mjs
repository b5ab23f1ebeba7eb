import { Agent } from 'node:http';
import { post } from '../load.mjs';
import { pause } from '../processes.mjs';
import { newChatBody } from '../requests.mjs';
import { percentile } from '../statistics.mjs';

const RETRY_MS = 100;
const CRITICAL = { 'x-spillway-priority': 'critical' };

/** Two models of the simulator that answer after `latencyMs`, and a route through both without a cache. */
export async function twoModels(scene, { latencyMs, inflight = 1000, breaker = {}, sections = {} }) {
  const settings = {
    latency: { first_token_ms: latencyMs, tokens_per_s: 0 },
    answer: { mode: 'fixed', text: 'It is in stock in most of our shops.' },
  };
  const simulator = await scene.simulator({ first: settings, second: settings });
  const model = { provider: 'simulator', limits: { inflight }, headroom: 0 };
  const configuration = {
    providers: { simulator: { base_url: `${simulator.url}/v1` } },
    models: { first: { ...model, breaker }, second: model },
    routes: { assistant: { chain: ['first', 'second'], cache: { exact: false, semantic: false } } },
    ...sections,
  };
  const configure = async (name, patch) => {
    const response = await fetch(`${simulator.url}/control/models/${name}`, {
      method: 'PATCH',
      body: JSON.stringify(patch),
    });
    if (!response.ok) throw new Error(`The simulator answered with ${response.status}.`);
  };
  return { configuration, configure };
}

/** One call; resolves with its time in ms and what answered it. @throws on anything but a 200 */
export function critical(port, agent) {
  const startedAt = performance.now();
  return post({ port, agent, body: newChatBody(), headers: CRITICAL }, (response, resolve) => {
    const { 'x-spillway-model': model } = response.headers;
    response.resume().on('end', () => resolve({ ms: performance.now() - startedAt, model }));
  });
}

/** Open loop: so many CRITICAL calls a second, whatever becomes of those before; tells how they ended. */
export async function flow({ port }, { perSecond, seconds }, halfway = () => undefined) {
  const agent = new Agent({ keepAlive: true });
  const calls = [];
  const startedAt = performance.now();
  const amount = perSecond * seconds;
  for (let call = 0; call < amount; call++) {
    await pause(Math.max(0, startedAt + (call * 1000) / perSecond - performance.now()));
    if (call === amount / 2) halfway();
    calls.push(critical(port, agent).catch(() => null));
  }
  const times = (await Promise.all(calls)).map(end => end?.ms ?? null);
  agent.destroy();
  return times;
}

/** What a table shows of a flow. */
export function flowRow(name, times) {
  const answered = times.filter(ms => ms !== null);
  return {
    name,
    calls: times.length,
    answered: answered.length / times.length,
    lost: times.length - answered.length,
    p50: percentile(answered, 0.5),
    p95: percentile(answered, 0.95),
    longest: Math.max(...answered),
  };
}

/** Asks a process until it says so. */
export async function until({ port }, path, isSo) {
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}${path}`).catch(() => null);
    const told = response === null ? null : await response.json();
    if (response?.ok && isSo(told)) return told;
    await pause(RETRY_MS);
  }
}

/** Calls until a model is open, and resolves with the moment at which it opened, ms since the epoch. */
export async function openUp(gateway, model) {
  const agent = new Agent({ keepAlive: true });
  for (;;) {
    await critical(gateway.port, agent);
    const { models } = await until(gateway, '/admin/status', () => true);
    const { state, since } = models[model].health;
    if (state !== 'open') continue;
    agent.destroy();
    return Date.parse(since);
  }
}
