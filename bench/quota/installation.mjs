import { setMaxListeners } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import { pause } from '../processes.mjs';
import { atMost, undecidedUnless } from '../targets.mjs';

const MODEL = 'm';
/** Longer than any wait here. */
const LONG_MS = 600_000;
const SAMPLE_MS = 50;
const STATUS_MS = 500;
const RETRY_MS = 100;
/** For so long all processes must have seen their Redis before anything is asked of them. */
const CALM_MS = 3_000;
/** Load, model and Redis share a core here, which may keep Redis for longer than the shipped tenth of a second. */
const REDIS_TIMEOUT_MS = 1_000;
const CALM_WITHIN_MS = 60_000;

let asked = 0;

/**
 * Gateways and perhaps a worker on one Redis in front of a simulator that keeps the limits of its model exactly. No
 * limit has headroom unless `model` says so, and every class may use all of it unless `priorities` says so.
 */
export async function startInstallation(scene, { simulated, model, priorities = {}, roles = ['all', 'all'] }) {
  const redis = await scene.redis();
  const simulator = await scene.simulator({ [MODEL]: simulated });
  const classes = Object.fromEntries(
    ['critical', 'normal', 'low'].map(name => [
      name,
      { share: 1, min_share: 0, queue_limit: 20_000, max_wait_ms: LONG_MS, ...priorities[name] },
    ]),
  );
  const configuration = {
    redis: { timeout_ms: REDIS_TIMEOUT_MS },
    providers: { simulator: { base_url: `${simulator.url}/v1` } },
    models: { [MODEL]: { provider: 'simulator', headroom: 0, timeout_ms: LONG_MS, ...model } },
    routes: { assistant: { chain: [MODEL], cache: { exact: false, semantic: false } } },
    priorities: classes,
  };
  const processes = await Promise.all(roles.map(role => scene.spillway({ redis, role, configuration })));
  await calm(processes);
  const gateways = processes.filter((_, index) => roles[index] !== 'worker');
  return new Installation(simulator, gateways);
}

/** Processes that start together on one core take turns for seconds, and may find their Redis silent meanwhile. */
async function calm(processes) {
  const isWell = async ({ port }) => {
    const { status } = await fetch(`http://127.0.0.1:${port}/readyz`).then(response => response.json());
    return status === 'ok';
  };
  const end = performance.now() + CALM_WITHIN_MS;
  for (let since = performance.now(); performance.now() - since < CALM_MS; await pause(RETRY_MS)) {
    const well = await Promise.all(processes.map(one => isWell(one).catch(() => false)));
    if (!well.every(Boolean)) since = performance.now();
    if (performance.now() > end) throw new Error('The processes do not come to see their Redis without interruption.');
  }
}

/** What callers and operators see of an installation. */
class Installation {
  #simulator;
  #gateways;
  #agent = new Agent({ keepAlive: true });
  #turn = 0;
  /** Answers that were given while the process of the caller did not see its Redis. */
  #local = 0;

  constructor(simulator, gateways) {
    this.#simulator = simulator;
    this.#gateways = gateways;
  }

  /** One call of one gateway, each in turn; resolves when it is answered, with how. */
  async ask(priority, { maxTokens = 4096, signal } = {}) {
    const { port } = this.#gateways[this.#turn++ % this.#gateways.length];
    const body = JSON.stringify({
      model: 'assistant',
      messages: [{ role: 'user', content: `Where is my order ${asked++}?` }],
      max_tokens: maxTokens,
    });
    const startedAt = performance.now();
    const { status, headers } = await this.#send(port, `/${priority}/v1/chat/completions`, { body, signal });
    if (headers['x-spillway-limits'] === 'local') this.#local += 1;
    return { status, waitedMs: Number(headers['x-spillway-queue-ms']), ms: performance.now() - startedAt };
  }

  /** `callers` who ask again as soon as they are answered, until the signal; refused ones wait a little first. */
  async keepAsking(priority, callers, signal, asking = {}) {
    // One listener for each call under way.
    setMaxListeners(0, signal);
    const caller = async () => {
      while (!signal.aborted) {
        const { status } = await this.ask(priority, { ...asking, signal }).catch(() => ({ status: 0 }));
        if (status !== 200) await pause(RETRY_MS);
      }
    };
    await Promise.all(Array.from({ length: callers }, caller));
  }

  /** What the simulator has counted. */
  async provider() {
    const stats = JSON.parse(await this.#get(this.#simulator.port, '/control/stats'))[MODEL];
    return {
      accepted: stats?.accepted ?? 0,
      refused: Object.values(stats?.refused ?? {}).reduce((sum, one) => sum + one, 0),
      refusedBy: reasons(stats?.refused ?? {}),
      tokens: (stats?.tokens_in ?? 0) + (stats?.tokens_out ?? 0),
      peakInflight: stats?.peak_inflight ?? 0,
      local: this.#local,
    };
  }

  /**
   * At most so many refusals of the provider. Missed, it is undecided where Redis was silent for a while: each process then
   * keeps its part of the limits by itself, and may exceed them a little (docs/operations.md says by how much).
   */
  kept(what, figure, most = 0) {
    return undecidedUnless(figure <= most || this.#local === 0, atMost(what, figure, most));
  }

  /** `GET /admin/status` of one gateway. */
  async status() {
    const { queues, models } = JSON.parse(await this.#get(this.#gateways[0].port, '/admin/status'));
    return { waiting: queues.critical + queues.normal + queues.low, queues, model: models[MODEL] };
  }

  /** What the simulator has counted, at short distances until the signal. */
  async watchProvider(signal) {
    const series = [];
    const startedAt = performance.now();
    while (!signal.aborted) {
      series.push({ ms: performance.now() - startedAt, ...(await this.provider()) });
      await pause(SAMPLE_MS);
    }
    return series;
  }

  /** What a gateway says binds while calls wait, at short distances until the signal; `unexplained`: it says nothing. */
  async watchStatus(signal) {
    const samples = [];
    while (!signal.aborted) {
      const { waiting, model } = await this.status().catch(() => ({ waiting: 1, model: {} }));
      if (waiting > 0) samples.push(model.binds?.limit ?? 'unexplained');
      await pause(STATUS_MS);
    }
    return samples;
  }

  close() {
    this.#agent.destroy();
  }

  /** Asked again while it cannot be answered: Redis may be out of reach for a moment on a busy machine. */
  async #get(port, path, tries = 20) {
    const { status, text } = await this.#send(port, path, {});
    if (status === 200) return text;
    if (tries === 1) throw new Error(`${path} was answered with ${status}.`);
    await pause(RETRY_MS);
    return this.#get(port, path, tries - 1);
  }

  #send(port, path, { body, signal }) {
    return new Promise((resolve, reject) => {
      const headers = body && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
      const method = body ? 'POST' : 'GET';
      const options = { port, host: '127.0.0.1', path, method, agent: this.#agent, headers, signal };
      const request = httpRequest(options, response => {
        let text = '';
        response.setEncoding('utf8').on('data', part => (text += part));
        response.on('error', reject);
        response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }));
      });
      request.on('error', reject).end(body);
    });
  }
}

function reasons(refused) {
  const some = Object.entries(refused).filter(([, count]) => count > 0);
  return some.map(([reason, count]) => `${reason} ${count}`).join(', ') || 'none';
}
