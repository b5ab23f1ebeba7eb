import type { AnswerPart, CallSignal } from '@spillway/contracts';

/** One part and what follows it. Who has passed a link lets go of it, so that nothing is kept for nobody. */
interface Link {
  readonly part: AnswerPart | null;
  following: Link | null;
}

type Ending = { readonly kind: 'complete' } | { readonly kind: 'failed'; readonly error: unknown };

/**
 * The parts of one answer for any number of readers, each from the start and at its own pace. They are fetched at the
 * pace of the fastest one. As long as the answer is not longer than `maxCharacters`, further readers may come.
 */
export class SharedParts {
  private last: Link = { part: null, following: null };
  private first: Link | null = this.last;
  private characters = 0;
  private ending: Ending | null = null;
  private fetching: Promise<void> | null = null;

  constructor(
    private readonly source: AsyncIterator<AnswerPart>,
    private readonly maxCharacters: number,
    /** Called once, as soon as the last part is there or none will come any more. */
    private readonly onEnd: (end: Ending['kind']) => void,
  ) {}

  /** Where a reader begins; null: the answer has grown too long for one more. */
  get start(): Link | null {
    return this.first;
  }

  /** The link after this one; null: that was the last. @throws what the answer failed with. */
  async after(link: Link): Promise<Link | null> {
    for (;;) {
      if (link.following !== null) return link.following;
      if (this.ending?.kind === 'failed') throw this.ending.error;
      if (this.ending !== null) return null;
      this.fetching ??= this.fetch();
      await this.fetching;
    }
  }

  /** One whole part is all there is, and it is there. */
  complete(whole: AnswerPart): void {
    this.add(whole);
    this.end({ kind: 'complete' });
  }

  /** Nobody reads any more. */
  async cancel(): Promise<void> {
    if (this.ending === null) await this.source.return?.();
  }

  private async fetch(): Promise<void> {
    try {
      const { done, value } = await this.source.next();
      if (done !== true) this.add(value);
      if (done === true) this.end({ kind: 'complete' });
      else if (value.kind === 'whole') await this.endWithWhole();
    } catch (error) {
      this.end({ kind: 'failed', error });
    } finally {
      this.fetching = null;
    }
  }

  /** A whole answer is one part: whoever has it need not ask for more. */
  private async endWithWhole(): Promise<void> {
    this.end({ kind: 'complete' });
    await this.source.return?.();
  }

  private add(part: AnswerPart): void {
    const link: Link = { part, following: null };
    this.last.following = link;
    this.last = link;
    this.characters += part.json.length;
    if (this.characters > this.maxCharacters) this.first = null;
  }

  private end(ending: Ending): void {
    if (this.ending !== null) return;
    this.ending = ending;
    this.onEnd(ending.kind);
  }
}

interface ReaderEvents {
  /** Once, when it has read all or has learned of the failure. */
  readonly ended: () => void;
  /** Once, when it goes before that; the reason is that of its signal, absent where it went by itself. */
  readonly left: (reason?: unknown) => Promise<void>;
}

/** Reads shared parts until their end, or until its own signal is aborted. */
export class PartsReader implements AsyncIterable<AnswerPart>, AsyncIterator<AnswerPart> {
  private state: 'reading' | 'over' = 'reading';
  private interrupt: (reason: unknown) => void = () => undefined;
  private readonly onAbort = (): void => {
    this.interrupt(this.signal.reason);
    void this.leave(this.signal.reason);
  };

  constructor(
    private readonly parts: SharedParts,
    private at: Link,
    private readonly signal: CallSignal,
    private readonly events: ReaderEvents,
  ) {
    if (signal.aborted) this.onAbort();
    else signal.addEventListener('abort', this.onAbort, { once: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<AnswerPart>> {
    if (this.signal.aborted) return Promise.reject(this.signal.reason as Error);
    if (this.state === 'over') return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve, reject) => {
      this.interrupt = reject;
      this.advance().then(resolve, reject);
    });
  }

  async return(): Promise<IteratorResult<AnswerPart>> {
    await this.leave();
    return { done: true, value: undefined };
  }

  private async advance(): Promise<IteratorResult<AnswerPart>> {
    try {
      const link = await this.parts.after(this.at);
      if (link === null || link.part === null) {
        this.end();
        return { done: true, value: undefined };
      }
      this.at = link;
      return { done: false, value: link.part };
    } catch (error) {
      this.end();
      throw error;
    }
  }

  private end(): void {
    if (this.close()) this.events.ended();
  }

  private async leave(reason?: unknown): Promise<void> {
    if (this.close()) await this.events.left(reason);
  }

  private close(): boolean {
    if (this.state === 'over') return false;
    this.state = 'over';
    this.signal.removeEventListener('abort', this.onAbort);
    return true;
  }
}
