import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const START_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 50;
/** Characters of output that are kept for looking at. */
const MOST_OUTPUT = 100_000;
const STOP_WITHIN_MS = 40_000;

/** A process of its own. */
export interface Program {
  readonly pid: number;
  kill(signal: NodeJS.Signals): Promise<void>;
}

interface ProgramOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Found in its output once it serves (the first group, if any, is returned), or an address that then answers. */
  readonly ready: RegExp | URL;
}

const running = new Set<ChildProcess>();
/** However this process ends, it leaves none behind. */
process.once('exit', () => running.forEach(child => child.kill('SIGKILL')));

/** Starts a program and waits until its output says that it serves. */
export async function startProgram(options: ProgramOptions): Promise<Program & { readonly found: string }> {
  const child = spawn(options.command, [...options.args], {
    env: { PATH: process.env['PATH'], ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data: Buffer) => {
      if (output.length < MOST_OUTPUT) output += data.toString();
    });
  }
  const failed = new Promise<never>((_, reject) => {
    child.once('error', reject);
    child.once('exit', code => reject(new Error(`${options.command} ended with ${code}:\n${output}`)));
  });
  try {
    const found = await Promise.race([failed, readiness(options.ready, () => output)]);
    return { found, pid: child.pid ?? 0, kill: signal => end(child, signal) };
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  } finally {
    failed.catch(() => undefined);
  }
}

/** Runs a program to its end, and returns what it printed. What it has to tell on the way is shown. */
export async function runProgram({ command, args }: Pick<ProgramOptions, 'command' | 'args'>): Promise<string> {
  const child = spawn(command, [...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  running.add(child);
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  const [code] = (await once(child, 'close')) as [number | null];
  running.delete(child);
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}.`);
  return output;
}

/** Waits until the output holds a text, or an address answers. */
async function readiness(ready: RegExp | URL, output: () => string): Promise<string> {
  for (const deadline = Date.now() + START_WITHIN_MS; Date.now() < deadline; await sleep(LOOK_EVERY_MS)) {
    if (ready instanceof RegExp) {
      const match = ready.exec(output());
      if (match !== null) return match[1] ?? '';
    } else if (await answers(ready)) return ready.origin;
  }
  throw new Error(`A program does not serve:\n${output()}`);
}

async function answers(url: URL): Promise<boolean> {
  return fetch(url).then(
    response => response.ok,
    () => false,
  );
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise<void>(resolve => child.once('exit', () => resolve()));
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
  child.kill(signal);
  await gone;
  clearTimeout(timer);
}

/** A folder for the files of one arm. */
export class Workplace {
  readonly folder = mkdtempSync(join(tmpdir(), 'spillway-lab-'));

  /** Writes JSON, which YAML readers read too, and returns its path. */
  write(name: string, content: unknown): string {
    const file = this.path(name);
    writeFileSync(file, JSON.stringify(content, null, 2));
    return file;
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A port of the loopback address that nobody uses right now. */
export async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>(resolve => probe.listen(0, '127.0.0.1', resolve));
  const address = probe.address();
  await new Promise(resolve => probe.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('There is no free port.');
  return address.port;
}
