import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { patientWith } from './open-redis';
import { configurationFile } from './settings';

const PROGRAMS = join(__dirname, '../../dist/apps/gateway/src');
const MAIN = join(PROGRAMS, 'main.js');
const START_WITHIN_MS = 60_000;

export interface SpillwayProcess {
  /** Where it listens. */
  readonly url: string;
  readonly pid: number;
  /** All that it wrote so far, both streams. */
  output(): string;
  /** The log lines so far that are JSON. */
  logLines(): readonly Record<string, unknown>[];
  kill(signal: NodeJS.Signals): void;
  /** Resolves with the exit code; null after a signal that it did not handle. */
  ended(): Promise<number | null>;
  /** SIGTERM, then waits for the end. */
  stop(): Promise<number | null>;
}

export interface SpillwayOptions {
  /** Absent: nothing is configured. */
  readonly configuration?: object;
  readonly env?: Readonly<Record<string, string>>;
  /** The folder it is started in; default: this one. */
  readonly folder?: string;
}

/** Starts the built program as a process of its own, as its users do, and waits until it serves. */
export async function startSpillway(options: SpillwayOptions = {}): Promise<SpillwayProcess> {
  const { configuration, env = {}, folder } = options;
  const file =
    configuration === undefined ? {} : { SPILLWAY_CONFIG: configurationFile(patientWith(configuration, env)) };
  const child = spawn(process.execPath, [MAIN], {
    env: { PATH: process.env['PATH'], PORT: '0', HOST: '127.0.0.1', ...file, ...env },
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output += data.toString()));
  const logLines = (): Record<string, unknown>[] => output.split('\n').flatMap(parsedLine);
  const url = await listeningUrl(child, logLines, () => output);
  const ended = async (): Promise<number | null> => {
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    return child.exitCode;
  };
  return {
    url,
    pid: child.pid ?? 0,
    output: () => output,
    logLines,
    kill: signal => void child.kill(signal),
    ended,
    stop: () => {
      child.kill('SIGTERM');
      return ended();
    },
  };
}

export interface Run {
  readonly code: number | null;
  readonly output: string;
}

/** Runs one of the built programs that ends by itself. */
export async function runProgram(
  name: 'main.js' | 'validate.js',
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Run> {
  const child = spawn(process.execPath, [join(PROGRAMS, name), ...words], {
    env: { PATH: process.env['PATH'], PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: START_WITHIN_MS,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output += data.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

function parsedLine(line: string): Record<string, unknown>[] {
  try {
    return [JSON.parse(line) as Record<string, unknown>];
  } catch {
    return [];
  }
}

async function listeningUrl(
  child: ChildProcess,
  logLines: () => readonly Record<string, unknown>[],
  output: () => string,
): Promise<string> {
  const deadline = Date.now() + START_WITHIN_MS;
  while (Date.now() < deadline && child.exitCode === null) {
    const started = logLines().find(line => 'role' in line && 'url' in line);
    if (started !== undefined) return typeof started['url'] === 'string' ? started['url'] : '';
    await new Promise(resolve => setTimeout(resolve, 25));
  }
  child.kill('SIGKILL');
  throw new Error(`Spillway did not start:\n${output()}`);
}
