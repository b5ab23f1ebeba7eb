import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

const MAIN = join(__dirname, '../../dist/apps/gateway/src/main.js');
/** An error that nobody catches, of which the log tells more than a pipe takes. */
const BOMB = `process.on('SIGUSR2', () => { throw new Error('x'.repeat(1_000_000)); });`;

describe('Where nobody reads its log any more', () => {
  let folder: string;
  let child: ChildProcessByStdio<null, Readable, null>;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'spillway-unread-'));
    const bomb = join(folder, 'bomb.cjs');
    writeFileSync(bomb, BOMB);
    const env = { PATH: process.env['PATH'], PORT: '0', HOST: '127.0.0.1' };
    child = spawn(process.execPath, ['--require', bomb, MAIN], { env, stdio: ['ignore', 'pipe', 'ignore'] });
    let output = '';
    while (!output.includes('listening on')) output += String((await once(child.stdout, 'data'))[0]);
  });
  afterEach(() => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  });

  const endAfter = (signal: NodeJS.Signals): Promise<unknown[]> => {
    const ended = once(child, 'exit', { signal: AbortSignal.timeout(15_000) });
    child.kill(signal);
    return ended;
  };

  it('a process stops with 0', async () => {
    child.stdout.destroy();
    expect(await endAfter('SIGTERM')).toEqual([0, null]);
  });

  it('a process ends by an error that nobody caught, even if the reader is still there', async () => {
    child.stdout.pause();
    expect(await endAfter('SIGUSR2')).toEqual([null, 'SIGKILL']);
  });
});
