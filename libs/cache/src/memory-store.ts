import type { Clock } from '@spillway/contracts';
import { LRUCache } from 'lru-cache';
import { keptUntil, type CachedAnswer } from './cached-answer';
import { ExactStore } from './exact-store';

interface MemoryBounds {
  /** Answers at most. */
  readonly entries: number;
  /** Bytes of all answers at most. */
  readonly bytes: number;
}

/** Bytes of an entry beside its text, roughly. */
const ENTRY_BYTES = 500;

/** Keeps answers in this process; the least recently used go first. */
export class MemoryStore extends ExactStore {
  private readonly answers: LRUCache<string, CachedAnswer>;

  constructor(
    bounds: MemoryBounds,
    private readonly clock: Clock,
  ) {
    super();
    this.answers = new LRUCache({
      max: bounds.entries,
      maxSize: bounds.bytes,
      // Two bytes a character is what a text takes at most.
      sizeCalculation: ({ rest }) => ENTRY_BYTES + 2 * rest.length,
    });
  }

  /** Answers, and about how many bytes they take. */
  get held(): { readonly entries: number; readonly bytes: number } {
    return { entries: this.answers.size, bytes: this.answers.calculatedSize };
  }

  async get(key: string): Promise<CachedAnswer | null> {
    return this.atHand(key);
  }

  atHand(key: string): CachedAnswer | null {
    const now = this.clock.now();
    const answer = this.kept(key, now);
    return answer !== null && answer.expiresAt > now ? answer : null;
  }

  async getStale(key: string): Promise<CachedAnswer | null> {
    return this.kept(key, this.clock.now());
  }

  async set(key: string, answer: CachedAnswer): Promise<void> {
    this.answers.set(key, answer);
  }

  private kept(key: string, now: number): CachedAnswer | null {
    const answer = this.answers.get(key);
    if (answer === undefined) return null;
    if (keptUntil(answer) > now) return answer;
    this.answers.delete(key);
    return null;
  }
}
