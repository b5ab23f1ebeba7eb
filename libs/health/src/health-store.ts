import type { Clock } from '@spillway/contracts';
import type { RedisChannels, RedisConnections, RedisGuard } from '@spillway/redis';
import { EXCHANGE_RECORDS } from './exchange-records.lua';
import type { ModelRecord } from './model-record';
import { READ_RECORDS } from './read-records.lua';

/** A record that is to replace the one of version `version` (0: there is none). */
export interface Move {
  readonly model: string;
  readonly version: number;
  readonly record: ModelRecord;
  /** Whether other processes should hear of it at once. */
  readonly announce: boolean;
}

/** What is kept after a move; `record` null: the one that was sent. */
export interface Kept {
  readonly version: number;
  readonly record: ModelRecord | null;
}

/** Milliseconds since the epoch, by the clock that all who share a store share. */
interface Timed {
  readonly now: number;
}

export interface Exchanged extends Timed {
  /** In the order of the moves. */
  readonly kept: readonly Kept[];
}

export interface Known extends Timed {
  readonly records: ReadonlyMap<string, { readonly version: number; readonly record: ModelRecord }>;
}

/** Keeps the records of all models for the processes that share it. A record moves only where its sender knew it. */
export abstract class HealthStore {
  /** @throws RedisUnavailable */
  abstract exchange(moves: readonly Move[]): Promise<Exchanged>;
  /** @throws RedisUnavailable */
  abstract read(): Promise<Known>;
  /** Calls the listener when another process has announced a change; returns what ends that. */
  abstract onChange(listener: () => void): () => void;
}

/** For one process alone, since its start. */
export class MemoryHealthStore extends HealthStore {
  private readonly records = new Map<string, { readonly version: number; readonly record: ModelRecord }>();
  private readonly listeners = new Set<() => void>();

  constructor(private readonly clock: Clock) {
    super();
  }

  async exchange(moves: readonly Move[]): Promise<Exchanged> {
    const kept = moves.map(({ model, version, record }): Kept => {
      const known = this.records.get(model);
      if (known !== undefined && known.version !== version) return known;
      this.records.set(model, { version: version + 1, record });
      return { version: version + 1, record: null };
    });
    const heard = kept.some(({ record }, index) => record === null && moves[index]?.announce === true);
    if (heard) for (const listener of this.listeners) listener();
    return { now: this.clock.now(), kept };
  }

  async read(): Promise<Known> {
    return { now: this.clock.now(), records: this.records };
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

export interface RedisParts {
  readonly connections: RedisConnections;
  readonly guard: RedisGuard;
  readonly channels: RedisChannels;
}

/** For all processes on one Redis, by its clock. */
export class RedisHealthStore extends HealthStore {
  private readonly keys: readonly string[];
  private readonly channel: string;

  constructor(private readonly redis: RedisParts) {
    super();
    const { prefix } = redis.connections;
    // The number goes up when the meaning of a record changes, so that versions do not misread each other.
    this.keys = [`{${prefix}}:health:2`];
    this.channel = `{${prefix}}:health`;
  }

  async exchange(moves: readonly Move[]): Promise<Exchanged> {
    const values = moves.flatMap(({ model, version, record, announce }) => [
      model,
      version,
      JSON.stringify(record),
      announce ? 1 : 0,
    ]);
    const [now, ...rest] = (await this.redis.guard.run(() =>
      EXCHANGE_RECORDS.run(this.redis.connections.get('commands'), this.keys, [this.channel, ...values]),
    )) as [number, ...unknown[]];
    const kept = moves.map((_, index): Kept => {
      const text = String(rest[2 * index + 1]);
      return { version: Number(rest[2 * index]), record: text === '' ? null : recordOf(text) };
    });
    return { now, kept };
  }

  async read(): Promise<Known> {
    const [now, flat] = (await this.redis.guard.run(() =>
      READ_RECORDS.run(this.redis.connections.get('commands'), this.keys, []),
    )) as [number, readonly string[]];
    const records = new Map<string, { version: number; record: ModelRecord }>();
    for (let at = 0; at + 1 < flat.length; at += 2) {
      const [model = '', kept = ''] = flat.slice(at, at + 2);
      const space = kept.indexOf(' ');
      records.set(model, { version: Number(kept.slice(0, space)), record: recordOf(kept.slice(space + 1)) });
    }
    return { now, records };
  }

  onChange(listener: () => void): () => void {
    return this.redis.channels.channel(this.channel, listener);
  }
}

function recordOf(text: string): ModelRecord {
  return JSON.parse(text) as ModelRecord;
}
