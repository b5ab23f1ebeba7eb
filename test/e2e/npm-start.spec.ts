import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { eventually } from '../support/operator';

const ROOT = join(__dirname, '../..');
/** It may have to build first. */
const BUILD_WITHIN_MS = 400_000;

/** Of its process group, whatever became of the test. */
function leaveNothingBehind(group: number | undefined): void {
  if (group === undefined) return;
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // All have ended, as they should.
  }
}

it(
  'ends in order with npm: a supervisor that stops `npm start` stops Spillway',
  async () => {
    const { PATH, HOME } = process.env;
    const npm = spawn('npm', ['start'], {
      cwd: ROOT,
      env: { PATH, HOME, PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    });
    try {
      let output = '';
      npm.stdout.on('data', (data: Buffer) => (output += data.toString()));
      const address = (): string | undefined => /listening on (http:\S+?)"/.exec(output)?.[1];
      await eventually(() => address() !== undefined, BUILD_WITHIN_MS);
      const url = address() ?? '';
      const body = JSON.stringify({
        model: 'assistant',
        messages: [{ role: 'user', content: 'how are you '.repeat(400) }],
      });
      const headers = { 'content-type': 'application/json' };
      const underWay = fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body });
      await sleep(100);

      npm.kill('SIGTERM');
      const [code] = (await once(npm, 'exit')) as [number | null];
      expect(code).toBe(0);
      expect((await underWay).status).toBe(200);
      await expect(fetch(`${url}/livez`)).rejects.toThrow('fetch failed');
    } finally {
      leaveNothingBehind(npm.pid);
    }
  },
  BUILD_WITHIN_MS,
);
