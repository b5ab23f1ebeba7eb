import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';

export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** Sends a signal: SIGSTOP freezes it, SIGCONT thaws it, SIGKILL ends it without warning. */
  kill(signal: NodeJS.Signals): void;
  /** Sends one command as an operator would; fails with the server's error. */
  command(...words: readonly [string, ...string[]]): Promise<unknown>;
  /** Starts it again on the same port after it has ended; `empty`: without what it had kept on disk. */
  restart(how?: { readonly empty: boolean }): Promise<void>;
  stop(): Promise<void>;
}

export interface RedisOptions {
  /** Keep data over a restart (append-only file, flushed always). */
  readonly durable?: boolean;
  readonly settings?: readonly string[];
}

/** A port of the loopback address that nobody uses right now. */
export async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>(resolve => probe.listen(0, '127.0.0.1', resolve));
  const address = probe.address();
  await new Promise(resolve => probe.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** Starts a private, real redis-server and waits until it answers. */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'spillway-redis-'));
  const persistence = options.durable
    ? ['--appendonly', 'yes', '--appendfsync', 'always']
    : ['--appendonly', 'no', '--save', ''];
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--maxmemory-policy', 'noeviction'];
  let child: ChildProcess;

  const launch = async (): Promise<void> => {
    child = spawn('redis-server', [...settings, ...persistence, ...(options.settings ?? [])], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    await new Promise<void>((resolve, reject) => {
      let output = '';
      child.stdout?.on('data', (data: Buffer) => {
        output += data.toString();
        if (output.includes('Ready to accept connections')) resolve();
      });
      child.once('error', reject);
      child.once('exit', code => reject(new Error(`redis-server ended with ${code}: ${output}`)));
    });
  };
  const ended = (): Promise<unknown> =>
    child.exitCode !== null || child.signalCode !== null
      ? Promise.resolve()
      : new Promise(resolve => child.once('exit', resolve));

  await launch();
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    kill: signal => void child.kill(signal),
    command: async (name, ...values) => {
      const client = new Redis(port);
      try {
        return await client.call(name, ...values);
      } finally {
        client.disconnect();
      }
    },
    restart: async ({ empty } = { empty: false }) => {
      await ended();
      if (empty) {
        rmSync(folder, { recursive: true, force: true });
        mkdirSync(folder);
      }
      await launch();
    },
    stop: async () => {
      child.kill('SIGCONT');
      child.kill('SIGKILL');
      await ended();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
