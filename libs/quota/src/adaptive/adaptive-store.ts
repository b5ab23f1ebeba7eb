import type { Clock } from '@spillway/contracts';
import type { RedisConnections, RedisGuard } from '@spillway/redis';
import { EXCHANGE } from './exchange.lua';

/** A change of what is kept for a model; made only where it is still as it was. */
export interface Move {
  readonly model: string;
  /** Null: there was nothing. */
  readonly from: string | null;
  readonly to: string;
}

/** What the processes of an installation know together. */
export interface Known {
  /** Milliseconds since the epoch, by a clock that all of them share. */
  readonly now: number;
  readonly states: ReadonlyMap<string, string>;
  /** When each model was first used, ms since the epoch. */
  readonly firstUses: ReadonlyMap<string, number>;
}

/** Keeps what is known of models for all processes that share it. */
export abstract class AdaptiveStore {
  /** Notes that models were used and makes the moves that are still possible; returns all that is known after it. */
  abstract exchange(used: readonly string[], moves: readonly Move[]): Promise<Known>;
}

/** For one process alone, since its start. */
export class MemoryAdaptiveStore extends AdaptiveStore {
  private readonly states = new Map<string, string>();
  private readonly firstUses = new Map<string, number>();

  constructor(private readonly clock: Clock) {
    super();
  }

  async exchange(used: readonly string[], moves: readonly Move[]): Promise<Known> {
    const now = this.clock.now();
    for (const model of used) if (!this.firstUses.has(model)) this.firstUses.set(model, now);
    for (const { model, from, to } of moves) if ((this.states.get(model) ?? null) === from) this.states.set(model, to);
    return { now, states: this.states, firstUses: this.firstUses };
  }
}

type Reply = readonly [now: number, states: readonly string[], firstUses: readonly string[]];

/** For all processes on one Redis, by its clock. */
export class RedisAdaptiveStore extends AdaptiveStore {
  private readonly keys: readonly string[];

  constructor(
    private readonly connections: RedisConnections,
    private readonly guard: RedisGuard,
  ) {
    super();
    // The number goes up when the meaning of what is kept changes, so that versions do not misread each other.
    this.keys = ['adaptive:1', 'first-used'].map(name => `{${connections.prefix}}:${name}`);
  }

  async exchange(used: readonly string[], moves: readonly Move[]): Promise<Known> {
    const values = [used.length, ...used, ...moves.flatMap(({ model, from, to }) => [model, from ?? '', to])];
    const [now, states, firstUses] = (await this.guard.run(() =>
      EXCHANGE.run(this.connections.get('commands'), this.keys, values),
    )) as Reply;
    return { now, states: mapOf(states, String), firstUses: mapOf(firstUses, Number) };
  }
}

function mapOf<T>(flat: readonly string[], read: (text: string) => T): ReadonlyMap<string, T> {
  const map = new Map<string, T>();
  for (let at = 0; at + 1 < flat.length; at += 2) map.set(String(flat[at]), read(String(flat[at + 1])));
  return map;
}
