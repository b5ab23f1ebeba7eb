import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Redis, type RedisOptions } from 'ioredis';
import { withDeadline } from './deadline';
import { GatheringRedis } from './gathering-redis';
import type { RedisSettings } from './redis-settings';
import { reasonOfLoss } from './redis-unavailable';

const RECONNECT_EVERY_MS = 500;
const CONNECT_WITHIN_MS = 1000;
/** For the first answer on a new connection, for which ioredis waits without end; a frozen Redis keeps it for later. */
const GREETED_WITHIN_MS = 1_500;
const QUIT_WITHIN_MS = 500;
const DEFAULT_TIMEOUT_MS = 100;

/** What a connection may answer twice must not be sent twice: nothing is kept for, or sent again after, a reconnect. */
const ONCE: RedisOptions = { enableOfflineQueue: false, autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 };

const ROLES = {
  /** Producers of durable jobs: an add fails at once while Redis is lost. */
  queue: ONCE,
  /** BullMQ's workers: their blocking reads wait for Redis as long as it takes. */
  worker: { maxRetriesPerRequest: null },
  /** All else that is answered at once, many at a time: what is asked together, of cache, permits and the queues of tickets, is one write. */
  commands: ONCE,
  subscriber: { maxRetriesPerRequest: null },
  /** Of the guard alone, so that a slow command elsewhere does not look like a lost Redis. */
  probe: ONCE,
} satisfies Record<string, RedisOptions>;

type RedisRole = keyof typeof ROLES;

/** The connections of this process, one per role: what one role waits for, another must not. */
@Injectable()
export class RedisConnections implements OnModuleInit, OnApplicationShutdown {
  /** Starts every key and channel of this installation. */
  readonly prefix: string;
  /** How long a use of Redis waits for a sign of life, in milliseconds. */
  readonly timeoutMs: number;
  /** Why it cannot be reached, in a word; null: it can, or nobody has tried yet. */
  trouble: string | null = null;
  private readonly byRole: ReadonlyMap<RedisRole, Redis>;

  constructor(settings: RedisSettings) {
    this.prefix = settings.prefix;
    this.timeoutMs = settings.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    const roles = Object.keys(ROLES) as RedisRole[];
    this.byRole = new Map(roles.map(role => [role, this.watched(impatient(connect(settings.url, role)))]));
  }

  /** The connection of a role; it reconnects by itself and is closed with the application. */
  get(role: RedisRole): Redis {
    const connection = this.byRole.get(role);
    if (connection === undefined) throw new Error(`No Redis connection for ${role}`);
    return connection;
  }

  onModuleInit(): Promise<void> {
    return this.ready();
  }

  /** Connects anew in every role: the address may lead to another server by now, or the connections nowhere. */
  renew(): void {
    for (const connection of this.byRole.values()) if (connection.status === 'ready') connection.disconnect(true);
  }

  /** Waits a moment for the connections; a lost Redis does not stop the start. */
  async ready(): Promise<void> {
    const ready = [...this.byRole.values()].map(whenReady);
    await withDeadline(Promise.all(ready), CONNECT_WITHIN_MS).catch(() => undefined);
  }

  /** Without a listener an unreachable Redis would end the process; the guard reports the loss. */
  private watched(connection: Redis): Redis {
    connection.on('error', error => (this.trouble = reasonOfLoss(error)));
    connection.on('ready', () => (this.trouble = null));
    return connection;
  }

  /** Runs after everything that uses Redis has stopped in an earlier hook. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.all([...this.byRole.values()].map(close));
  }
}

/** Gives a new connection up on which nobody answers, also one that BullMQ makes like it. */
function impatient(connection: Redis): Redis {
  let greeting: NodeJS.Timeout | undefined;
  connection.on('connect', () => {
    greeting = setTimeout(() => connection.disconnect(true), GREETED_WITHIN_MS).unref();
  });
  for (const event of ['ready', 'close']) connection.on(event, () => clearTimeout(greeting));
  const duplicate = connection.duplicate.bind(connection);
  connection.duplicate = (...options) => impatient(duplicate(...options));
  return connection;
}

function connect(url: string, role: RedisRole): Redis {
  // BullMQ's workers and durable jobs are left alone.
  const Kind = role === 'commands' ? GatheringRedis : Redis;
  return new Kind(url, {
    connectionName: `spillway-${role}`,
    connectTimeout: CONNECT_WITHIN_MS,
    disconnectTimeout: QUIT_WITHIN_MS,
    retryStrategy: times => Math.min(times * 50, RECONNECT_EVERY_MS),
    // BullMQ makes connections of its own from these settings.
    reconnectOnError: isDemoted,
    ...ROLES[role],
  });
}

/** Whether an error says that the server has become a replica: after a failover its address leads to the new master. */
export function isDemoted(error: Error): boolean {
  return error.message.includes('READONLY');
}

function whenReady(connection: Redis): Promise<void> {
  return connection.status === 'ready'
    ? Promise.resolve()
    : new Promise(resolve => void connection.once('ready', () => resolve()));
}

async function close(connection: Redis): Promise<void> {
  if (connection.status === 'ready') await withDeadline(connection.quit(), QUIT_WITHIN_MS).catch(() => undefined);
  connection.disconnect();
}
