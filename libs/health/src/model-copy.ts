import { afterCall } from './breaker';
import type { Kept, Move } from './health-store';
import type { BreakerSettings, ModelRecord } from './model-record';
import type { Outcome } from './outcome';

/**
 * This process's copy of the record of one model: what all share, and on top of it the outcomes that the others do not
 * know yet.
 */
export class ModelCopy {
  /** The shared record with the outcomes that are pending; what this process decides by. */
  record: ModelRecord;
  private version = 0;
  private shared: ModelRecord;
  private pending: Outcome[] = [];
  /** Whether `shared` is what others know. */
  private unsent = false;

  constructor(
    readonly model: string,
    fresh: ModelRecord,
  ) {
    this.record = fresh;
    this.shared = fresh;
  }

  get hasNews(): boolean {
    return this.unsent || this.pending.length > 0;
  }

  add(outcome: Outcome, settings: BreakerSettings): void {
    this.pending.push(outcome);
    this.record = afterCall(this.record, outcome, settings);
  }

  /** What would make the store know what this process does, and `record` more. */
  move(record = this.record): Sent {
    const announce = isChange(this.shared, record);
    return {
      outcomes: this.pending.length,
      move: { model: this.model, version: this.version, record, announce },
    };
  }

  /** Takes in what became of a move; returns the record before it where it was made, else null: try again. */
  settle({ outcomes, move }: Sent, kept: Kept, settings: BreakerSettings): ModelRecord | null {
    this.version = kept.version;
    if (kept.record !== null) {
      this.replace(kept.record, settings);
      return null;
    }
    const before = this.shared;
    this.pending.splice(0, outcomes);
    this.replace(move.record, settings);
    return before;
  }

  /** Takes over what others have made of the record. */
  take(version: number, record: ModelRecord, settings: BreakerSettings): void {
    if (version === this.version) return;
    this.version = version;
    this.replace(record, settings);
  }

  /** The store has lost what it knew: it is told again. */
  restore(): void {
    if (this.version > 0) this.unsent = true;
  }

  /** Nobody can be told now: goes on alone from what it knows. Returns the record before. */
  goOnAlone(): ModelRecord {
    const before = this.shared;
    this.shared = this.record;
    this.pending = [];
    this.unsent = true;
    return before;
  }

  private replace(shared: ModelRecord, settings: BreakerSettings): void {
    this.shared = shared;
    this.unsent = false;
    this.record = this.pending.reduce((record, outcome) => afterCall(record, outcome, settings), shared);
  }
}

/** A move, and how many of the pending outcomes are in it. */
export interface Sent {
  readonly move: Move;
  readonly outcomes: number;
}

/** Whether people and other processes want to hear of it. */
export function isChange(before: ModelRecord, after: ModelRecord): boolean {
  return before.state.kind !== after.state.kind || (before.pausedSince === null) !== (after.pausedSince === null);
}
