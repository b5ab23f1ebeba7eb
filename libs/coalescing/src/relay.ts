import { CallController, ClientGone, Journal, type Answer, type KeyedCall } from '@spillway/contracts';
import type { Flight } from './flight';
import { tooLate } from './riders';
import type { Entry } from './transcript';

const BATCH_MS = 20;
const BATCH_CHARACTERS = 32_768;
/** Followers knock four times a second; who has not for so long is gone. */
const SILENCE_MS = 2_000;

type Parts = Extract<Entry, { kind: 'parts' }>;

/** Rides along in the place of calls of other processes, and writes down for them what it hears. */
export class Relay {
  /** When all is written, or nobody listens any more. */
  readonly over: Promise<void>;
  private readonly controller = new CallController();
  private readonly journal = new Journal();
  private readonly silence: NodeJS.Timeout;
  private batch: Parts['parts'][number][] = [];
  private characters = 0;
  private hasToldOfCall = false;
  private isFollowed = true;

  constructor(
    private readonly flight: Flight,
    call: KeyedCall,
    private readonly write: (entry: Entry) => Promise<void>,
  ) {
    this.silence = setTimeout(() => this.leave(), SILENCE_MS).unref();
    const { signal } = this.controller;
    // The last to lead: a relay has no call of its own.
    const rider: KeyedCall = Object.assign({}, call, {
      streaming: true,
      priority: 'low' as const,
      turnBy: Infinity,
      signal,
      journal: this.journal,
    });
    const riding = flight.board(rider, () => Promise.reject(tooLate()));
    flight.watch(() => this.leaveIfAlone());
    this.over = this.tell(riding).finally(() => clearTimeout(this.silence));
  }

  /** A follower is still there. */
  knock(): void {
    this.isFollowed = true;
    this.silence.refresh();
    if (this.hasToldOfCall || !this.flight.isCalling) return;
    this.hasToldOfCall = true;
    this.write({ kind: 'called' }).catch(() => this.leave());
  }

  /** All followers have said that they go. One that comes soon is welcome, if others keep the work going. */
  deserted(): void {
    this.isFollowed = false;
    this.leaveIfAlone();
  }

  private leaveIfAlone(): void {
    if (!this.isFollowed && this.flight.aboard === 1) this.leave();
  }

  private async tell(riding: Promise<Answer>): Promise<void> {
    const flushing = setInterval(() => void this.flush().catch(() => this.leave()), BATCH_MS).unref();
    try {
      for await (const { kind, json } of (await riding).parts) {
        this.batch.push([kind, json]);
        this.characters += json.length;
        if (this.characters > BATCH_CHARACTERS) await this.flush();
      }
      await this.flush();
      await this.write({ kind: 'end', usage: this.journal.saved });
    } catch {
      // Also when it was left: whoever comes now cannot be told all of it.
      await this.write({ kind: 'failed' }).catch(() => undefined);
    } finally {
      clearInterval(flushing);
    }
  }

  private async flush(): Promise<void> {
    if (this.batch.length === 0) return;
    const { batch: parts } = this;
    this.batch = [];
    this.characters = 0;
    const { model, degraded } = this.journal;
    await this.write({ kind: 'parts', model, degraded, parts });
  }

  private leave(): void {
    this.controller.abort(new ClientGone('No other process follows any more.'));
  }
}
