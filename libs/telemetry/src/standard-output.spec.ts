import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const RUN_TYPESCRIPT = join(__dirname, '../../../test/support/run-typescript.cjs');
const LOGGER = `const logger = require('@spillway/telemetry').createLogger('info');`;

/** A process with a logger on a standard output of its own. */
function startProgram(code: string) {
  const words = ['-r', RUN_TYPESCRIPT, '-e', `${LOGGER}\n${code}`];
  return spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'inherit'] });
}

it('has passed all lines on when it says so, also those that came while others were being written', async () => {
  // Killed, a process flushes nothing.
  const child = startProgram(`
    logger.info({ long: 'x'.repeat(70_000) });
    for (let line = 0; line < 2_000; line++) logger.info({ line, text: 'y'.repeat(100) });
    logger.written().then(() => process.kill(process.pid, 'SIGKILL'));
  `);
  const lines = (await text(child.stdout)).trimEnd().split('\n');
  expect(lines).toHaveLength(2_001);
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ line: 1_999 });
});

it('closed, it lets a process end whose reader is gone, although lines are left', async () => {
  const child = startProgram(`
    logger.info({}, 'ready');
    process.stdin.once('data', () => {
      logger.info({}, 'for nobody');
      logger.close();
      logger.info({}, 'too late');
      process.exit(3);
    });
  `);
  try {
    await once(child.stdout, 'data');
    child.stdout.destroy();
    child.stdin.write('end');
    expect(await once(child, 'exit')).toEqual([3, null]);
  } finally {
    child.kill('SIGKILL');
  }
});
