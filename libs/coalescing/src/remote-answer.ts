import { SpillwayError, UpstreamError, type AnswerPart, type Call } from '@spillway/contracts';
import { tooLate } from './riders';
import { partOf, type Entry } from './transcript';

/** How often a follower shows that it is there, and looks for what no message told it of. */
const KNOCK_EVERY_MS = 250;

/** What a follower needs of the process that leads. */
interface Distance {
  readonly now: () => number;
  /** What was written since the last time. */
  readonly read: () => Promise<readonly Entry[]>;
  readonly isLed: () => Promise<boolean>;
  readonly knock: () => Promise<void>;
  /** Tells that nobody here follows any more. */
  readonly leave: () => Promise<void>;
}

/** The answer of another process, as it is written down there. */
export class RemoteAnswer {
  private readonly entries: Entry[] = [];
  private wake: () => void = () => undefined;
  private isNews = false;
  private knockedAt = -Infinity;

  constructor(
    private readonly call: Call,
    private readonly distance: Distance,
  ) {}

  /** Something new was written. */
  news(): void {
    this.isNews = true;
    this.wake();
  }

  /**
   * Resolves with the parts when the first are there; with null when none will come from that process.
   * @throws QueueTimeout when no model was called in time, the reason of the call's signal.
   */
  async open(): Promise<AsyncGenerator<AnswerPart> | null> {
    try {
      return await this.begin();
    } catch (error) {
      this.leave();
      throw error;
    }
  }

  private async begin(): Promise<AsyncGenerator<AnswerPart> | null> {
    for (;;) {
      const entry = await this.next().catch(orNull);
      if (this.entries.some(({ kind }) => kind === 'failed')) return null;
      switch (entry?.kind) {
        case 'called':
          this.call.journal.cache = 'COALESCED';
          break;
        case 'parts':
          Object.assign(this.call.journal, { cache: 'COALESCED', model: entry.model, degraded: entry.degraded });
          this.entries.unshift(entry);
          return this.parts();
        case 'end':
          this.entries.unshift(entry);
          return this.parts();
        default:
          return null;
      }
    }
  }

  private async *parts(): AsyncGenerator<AnswerPart> {
    let isWhole = false;
    try {
      for (;;) {
        const entry = await this.next().catch(orNull);
        switch (entry?.kind) {
          case 'parts':
            yield* entry.parts.map(partOf);
            break;
          case 'end':
            isWhole = true;
            this.call.journal.saved = entry.usage;
            return;
          case 'called':
            break;
          default:
            throw new UpstreamError('The answer broke off.');
        }
      }
    } finally {
      if (!isWhole) this.leave();
    }
  }

  private leave(): void {
    // Who does not hear it misses the knocks a moment later.
    this.distance.leave().catch(() => undefined);
  }

  /** Null: the process that leads is gone, and has written nothing more. */
  private async next(): Promise<Entry | null> {
    for (;;) {
      const entry = this.entries.shift();
      if (entry !== undefined) return entry;
      this.call.signal.throwIfAborted();
      const now = this.distance.now();
      const isDue = now - this.knockedAt >= KNOCK_EVERY_MS;
      if (isDue) {
        this.knockedAt = now;
        await this.distance.knock();
      }
      if (!(await this.look(isDue))) return null;
      if (this.entries.length === 0) await this.pause();
    }
  }

  /** Reads what is new; false: nothing is, and nobody leads. */
  private async look(andWhetherLed: boolean): Promise<boolean> {
    // In this order: a process that has written its end may give up the lead at once.
    const isLed = !andWhetherLed || (await this.distance.isLed());
    this.isNews = false;
    this.entries.push(...(await this.distance.read()));
    return isLed || this.entries.length > 0;
  }

  /** Until there is news, time to look, or an end of patience. */
  private async pause(): Promise<void> {
    const { signal, turnBy, journal } = this.call;
    const patience = journal.cache === 'COALESCED' ? Infinity : turnBy - this.distance.now();
    if (patience <= 0) throw tooLate();
    if (this.isNews) return;
    await new Promise<void>(resolve => {
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, Math.min(patience, KNOCK_EVERY_MS));
      signal.addEventListener('abort', done, { once: true });
      this.wake = done;
    });
  }
}

/** What a lost Redis means; what the call itself must hear is thrown. */
function orNull(error: unknown): null {
  if (error instanceof SpillwayError) throw error;
  return null;
}
