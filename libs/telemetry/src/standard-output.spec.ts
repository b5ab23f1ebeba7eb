import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const RUN_TYPESCRIPT = join(__dirname, '../../../test/support/run-typescript.cjs');
const LOGGER = `const logger = require('@spillway/telemetry').createLogger('info');`;

const wordsOf = (code: string): string[] => ['-r', RUN_TYPESCRIPT, '-e', `${LOGGER}\n${code}`];

/** A process with a logger on a standard output of its own. */
function startProgram(code: string) {
  return spawn(process.execPath, wordsOf(code), { stdio: ['pipe', 'pipe', 'inherit'] });
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

it('lets a process go on whose disk is full', async () => {
  const full = openSync('/dev/full', 'w');
  const code = `
    logger.info({}, 'no room');
    setTimeout(() => logger.info({}, 'no room either'), 100);
    setTimeout(() => void logger.written().then(() => process.kill(process.pid, 'SIGTERM')), 200);
  `;
  const child = spawn(process.execPath, wordsOf(code), { stdio: ['ignore', full, 'inherit'] });
  closeSync(full);
  expect(await once(child, 'exit')).toEqual([null, 'SIGTERM']);
});

it('keeps lines that nobody reads within bounds, and says how many were lost', async () => {
  const child = startProgram(`
    for (let line = 0; line < 30; line++) logger.info({ line, text: 'y'.repeat(1_000_000) });
    process.stdin.once('data', () => {
      logger.info({}, 'the last');
      logger.written().then(() => process.kill(process.pid, 'SIGKILL'));
    });
  `);
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    output += piece;
    if (/"line":15/.test(piece)) child.stdin.end('go on');
  });
  await once(child, 'exit');
  const lines = output.trimEnd().split('\n');
  const [loss, last] = lines.slice(-2).map(line => JSON.parse(line) as Record<string, unknown>);
  expect(loss).toMatchObject({ level: 'error', lines: 30 - (lines.length - 2) });
  expect(last).toMatchObject({ msg: 'the last' });
});
