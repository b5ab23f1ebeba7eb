import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, stop } from '../../scripts/workspace.mjs';
import { freePort, start } from '../processes.mjs';

export const VERSION = '1.15.2';

/** It starts only with these; newer ones of what it depends on break it. */
const MANIFEST = {
  private: true,
  dependencies: { '@portkey-ai/gateway': VERSION },
  overrides: { '@hono/node-server': '1.13.5', hono: '4.9.7' },
};
const folder = join(root, 'node_modules/.cache/spillway-peers');
const program = join(folder, 'node_modules/@portkey-ai/gateway/build/start-server.js');

/** Installs it beside the project, not into it: it is measured, not used. */
export function ensurePortkey() {
  const manifest = join(folder, 'package.json');
  const wanted = `${JSON.stringify(MANIFEST, null, 2)}\n`;
  if (existsSync(program) && readFileSync(manifest, 'utf8') === wanted) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(manifest, wanted);
  const { status } = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], {
    cwd: folder,
    stdio: ['ignore', process.stderr, process.stderr],
  });
  if (status !== 0) stop(`@portkey-ai/gateway ${VERSION} could not be installed.`);
}

/** Its gateway, on the core that is measured. */
export async function startPortkey() {
  const port = await freePort();
  return start({
    args: [program, `--port=${port}`, '--headless'],
    port,
    core: 'measured',
  });
}

/** What a call must say so that it goes to a model on this machine; `attempts`: its own repeats of a refused call. */
export function portkeyHeaders(upstreamPort, attempts = 0) {
  const target = {
    provider: 'openai',
    custom_host: `http://127.0.0.1:${upstreamPort}/v1`,
  };
  const retry = attempts === 0 ? {} : { retry: { attempts, on_status_codes: [429] } };
  return {
    'x-portkey-config': JSON.stringify({
      ...target,
      ...retry,
      api_key: 'bench',
    }),
  };
}
