import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';

const START_WITHIN_MS = 20_000;
const CLOCK_TICKS_PER_S = 100;

/** The processor for what is measured and the one for everything else; null where processes cannot be pinned. */
export const cores = findCores();

function findCores() {
  if (spawnSync('taskset', ['-V'], { stdio: 'ignore' }).status !== 0) return null;
  const allowed = /^Cpus_allowed_list:\s*(.*)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '';
  const numbers = allowed.split(',').flatMap(range => {
    const [first, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
  return numbers.length > 1 ? { measured: numbers[0], load: numbers[1] } : null;
}

/** Keeps this process, which makes the load, away from what it measures. */
export function pinThisProcess() {
  if (cores !== null) spawnSync('taskset', ['-acp', String(cores.load), String(process.pid)], { stdio: 'ignore' });
}

const running = new Set();

/** A process of its own on one core, once its port answers; `core` is `measured` or `load`. */
export async function start({ command = process.execPath, args, port, core, env = {} }) {
  const [file, ...rest] =
    cores === null ? [command, ...args] : ['taskset', '-c', String(cores[core]), command, ...args];
  const child = spawn(file, rest, { stdio: ['ignore', 'ignore', 'inherit'], env: { PATH: process.env.PATH, ...env } });
  running.add(child);
  await answering(child, port);
  return { pid: child.pid, port, stop: () => end(child) };
}

/** Runs a program of Node to its end on one core; what it prints is JSON. */
export async function run({ args, core }) {
  const [file, ...rest] =
    cores === null ? [process.execPath, ...args] : ['taskset', '-c', String(cores[core]), process.execPath, ...args];
  const child = spawn(file, rest, { stdio: ['ignore', 'pipe', 'inherit'] });
  running.add(child);
  let text = '';
  child.stdout.setEncoding('utf8').on('data', part => (text += part));
  const [code] = await once(child, 'close');
  running.delete(child);
  if (code !== 0) throw new Error(`${args[0]} ended with ${code}.`);
  return JSON.parse(text);
}

/** Ends everything that was started, the latest first. */
export async function stopAll() {
  for (const child of [...running].reverse()) await end(child);
}

async function end(child) {
  running.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise(resolve => child.once('exit', resolve));
  child.kill('SIGTERM');
  await gone;
}

async function answering(child, port) {
  const deadline = Date.now() + START_WITHIN_MS;
  const tryOnce = () =>
    new Promise(resolve => {
      const socket = connect(port, '127.0.0.1', () => resolve(socket.destroy() && true));
      socket.once('error', () => resolve(false));
    });
  while (!(await tryOnce())) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error(`Nothing answers on port ${port}.`);
    await pause(50);
  }
}

export const pause = ms => new Promise(resolve => setTimeout(resolve, ms));

/** A port of the loopback address that nobody uses right now. */
export async function freePort() {
  const probe = createServer();
  await new Promise(resolve => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address();
  await new Promise(resolve => probe.close(resolve));
  return port;
}

/** Microseconds of processor time that a process has used, all its threads together; null where nobody tells. */
export function cpuMicroseconds(pid) {
  try {
    // The name of the program, in brackets, may contain spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return ((Number(fields[11]) + Number(fields[12])) * 1_000_000) / CLOCK_TICKS_PER_S;
  } catch {
    return null;
  }
}

/** Megabytes of memory that a process holds. */
export function residentMegabytes(pid) {
  const kilobytes = /^VmRSS:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
}
