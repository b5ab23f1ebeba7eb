import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from '../scripts/workspace.mjs';
import { freePort, start, stopAll } from './processes.mjs';

const serverFile = name => fileURLToPath(new URL(`servers/${name}.mjs`, import.meta.url));

/** The processes of one benchmark: a model, what is measured, and what it is measured against. */
export class Scene {
  #folder = mkdtempSync(join(tmpdir(), 'spillway-bench-'));
  #profiles;
  #upstream = null;

  /** `profiles`: a folder for CPU profiles of the gateways, written when they end. */
  constructor({ profiles } = {}) {
    this.#profiles = profiles;
  }

  /** The model that answers; it does not run on the core that is measured. */
  async upstream() {
    this.#upstream ??= await this.#node('upstream', 'load', []);
    return this.#upstream;
  }

  /** `floor` or `proxy`: the least that a server, or a proxy, can do; `model`: behind it, if not that of the scene. */
  async yardstick(name, model) {
    const { port } = model ?? (await this.upstream());
    return this.#node(name, 'measured', [port]);
  }

  async redis() {
    const port = await freePort();
    const settings = [
      '--port',
      port,
      '--bind',
      '127.0.0.1',
      '--dir',
      this.#folder,
      '--save',
      '',
      '--appendonly',
      'yes',
    ];
    const server = await start({ command: 'redis-server', args: settings.map(String), port, core: 'load' });
    return { ...server, url: `redis://127.0.0.1:${port}` };
  }

  /** The simulator as a provider that keeps its limits exactly; `models`: its settings of each. */
  async simulator(models) {
    const port = await freePort();
    const file = join(this.#folder, `simulator-${port}.yaml`);
    writeFileSync(file, JSON.stringify({ strict: true, models }));
    const args = [join(root, 'dist/apps/simulator/src/main.js'), '--config', file];
    const server = await start({ args, port, core: 'load', env: { PORT: String(port) } });
    return { ...server, url: `http://127.0.0.1:${port}` };
  }

  /** Spillway as its users start it, with its log to nowhere; `redis` absent: everything in its own memory. */
  async gateway({ redis, ...sections } = {}) {
    return this.spillway({ redis, configuration: configuration((await this.upstream()).port, sections) });
  }

  /** One process of Spillway; `role` absent: it serves and hands out turns. */
  async spillway({ redis, role = 'all', core = 'measured', configuration }) {
    const port = await freePort();
    const file = join(this.#folder, `spillway-${port}.yaml`);
    writeFileSync(file, JSON.stringify(configuration));
    const profiling = this.#profiles === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${this.#profiles}`];
    return start({
      args: [...profiling, join(root, 'dist/apps/gateway/src/main.js')],
      port,
      core,
      env: {
        SPILLWAY_CONFIG: file,
        SPILLWAY_ROLE: role,
        PORT: String(port),
        ...(redis ? { REDIS_URL: redis.url } : {}),
      },
    });
  }

  async close() {
    await stopAll();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #node(name, core, args) {
    const port = await freePort();
    return start({ args: [serverFile(name), String(port), ...args.map(String)], port, core });
  }
}

/** A model with limits that are counted and never reached; one route with a cache and one without. */
function configuration(upstreamPort, sections) {
  const limits = { rpm: 100_000_000, tpm: 100_000_000_000, inflight: 10_000 };
  return {
    providers: { bench: { base_url: `http://127.0.0.1:${upstreamPort}/v1` } },
    models: { bench: { provider: 'bench', limits } },
    routes: {
      assistant: { chain: ['bench'], cache: { semantic: false } },
      uncached: { chain: ['bench'], cache: { exact: false, semantic: false } },
    },
    ...sections,
  };
}
