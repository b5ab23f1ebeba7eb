import type { JsonValue, Priority } from '@spillway/contracts';

/** A job as it waits. */
export interface Entry {
  /** Letters of its kind, an underscore, then what makes it unique. */
  readonly id: string;
  readonly owner: string;
  readonly priority: Priority;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly payload: JsonValue;
}

export interface EntryState {
  readonly entry: Entry;
  readonly state: 'queued' | 'running' | 'failed';
  readonly attempts: number;
  readonly progress: JsonValue | null;
}

/** A job that this process has taken. */
export interface Taken {
  readonly entry: Entry;
  /** From 1. */
  readonly attempt: number;
  /** How often a process has died with it. */
  readonly deaths: number;
  readonly progress: JsonValue | null;
  checkpoint(progress: JsonValue): Promise<void>;
}

/** What is to become of a job that was taken. */
export type Verdict =
  | { readonly kind: 'done' }
  /** It failed for good and is kept as a dead letter. */
  | { readonly kind: 'dead' }
  | { readonly kind: 'again'; readonly inMs: number; readonly counted: boolean }
  /** At once, by whichever process is free. */
  | { readonly kind: 'back' };

export interface Taker {
  readonly concurrency: number;
  /** Never rejects. */
  run(taken: Taken): Promise<Verdict>;
  /** The job is not wanted any more. */
  interrupt(id: string): void;
}

export type BacklogCounts = Readonly<Record<EntryState['state'], number>>;

/** The jobs of one kind that have not ended, and those that failed for good. */
export abstract class Backlog {
  /** A known id is not added again. @throws RedisUnavailable, as the others do */
  abstract add(entry: Entry): Promise<void>;
  abstract find(id: string): Promise<EntryState | null>;
  /** Removes a job that waits, and interrupts one that runs, in whichever process. */
  abstract withdraw(id: string): Promise<void>;
  /** The dead letters, newest first. */
  abstract dead(most: number): Promise<readonly EntryState[]>;
  /** Lets a dead letter wait again, with all its attempts; false: there is no such letter. */
  abstract revive(id: string): Promise<boolean>;
  abstract counts(): Promise<BacklogCounts>;
  /** Those that run, then those that wait, the next first. */
  abstract open(most: number): Promise<readonly EntryState[]>;
  /** Begins to take jobs: higher classes first, then in order. */
  abstract take(taker: Taker): void;
  /** Takes no more; resolves when those taken have ended. */
  abstract stop(): Promise<void>;
}
