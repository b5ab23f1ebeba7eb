import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const MAIN = join(__dirname, '../../dist/apps/gateway/src/main.js');

it('stops with 0 where nobody reads its log any more', async () => {
  const env = { PATH: process.env['PATH'], PORT: '0', HOST: '127.0.0.1' };
  const child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    let output = '';
    while (!output.includes('listening on')) output += String((await once(child.stdout, 'data'))[0]);
    child.stdout.destroy();
    const ended = once(child, 'exit', { signal: AbortSignal.timeout(15_000) });
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  } finally {
    child.kill('SIGKILL');
  }
});
