import { LRUCache } from 'lru-cache';
import { OTHER } from '@spillway/contracts';
import { wilsonLower, type ErrorBudget } from './boundary';
import { Experience } from './experience';
import type { JudgementLog, LoggedJudgement } from './judgement-log';

/** Confirmed wrong reuses after which an answer is no longer kept. */
const WRONG_BEFORE_EVICTION = 2;

/** A kept question, as far as it takes to forget it. */
export interface KeptQuestion {
  readonly partition: string;
  readonly id: string;
}

export interface RouteQuality {
  /** Lookups of this process in the semantic tier, and how many of them found an answer. */
  readonly lookups: number;
  readonly hits: number;
  readonly hit_rate: number | null;
  /** Judgements of all processes: of reuses, and of what was near but not reused. */
  readonly judged_hits: number;
  readonly judged_near_misses: number;
  readonly same_near_misses: number;
  readonly wrong_hits: number;
  /** Share of right reuses among those judged, and the least that they leave plausible at 90 %; null: none judged. */
  readonly precision: number | null;
  readonly precision_at_least: number | null;
  /** The least probability at which a near question is reused; null: not known yet, only the guard decides. */
  readonly boundary: number | null;
  /** Whether what the guard lets through is reused. */
  readonly trusts_guard: boolean;
  readonly evicted: number;
}

interface Book {
  readonly experience: Experience;
  lookups: number;
  hits: number;
  judgedHits: number;
  judgedNearMisses: number;
  sameNearMisses: number;
  wrongHits: number;
  evicted: number;
}

/**
 * What is known of the reuse of answers, by route: learned from judgements, which all processes share. Names that callers
 * make up, and those of routes that are gone, have one book together, as they come without end.
 */
export class Trust {
  private readonly books = new Map<string, Book>();
  private readonly wrongs = new LRUCache<string, number>({ max: 10_000 });

  constructor(
    judgements: JudgementLog,
    private readonly budget: () => ErrorBudget,
    /** Forgets a question that led to wrong answers. */
    private readonly evict: (question: KeptQuestion) => void,
    private readonly isConfigured: (route: string) => boolean = () => true,
  ) {
    judgements.listen(judgement => this.learn(judgement));
  }

  of(route: string): Experience {
    return this.bookOf(route).experience;
  }

  looked(route: string, hit: boolean): void {
    const book = this.bookOf(route);
    book.lookups += 1;
    if (hit) book.hits += 1;
  }

  quality(): Readonly<Record<string, RouteQuality>> {
    return Object.fromEntries([...this.books].map(([route, book]) => [route, qualityOf(book)]));
  }

  private bookOf(name: string): Book {
    const route = this.isConfigured(name) ? name : OTHER;
    const known = this.books.get(route);
    if (known !== undefined) return known;
    const book: Book = {
      experience: new Experience(this.budget),
      lookups: 0,
      hits: 0,
      judgedHits: 0,
      judgedNearMisses: 0,
      sameNearMisses: 0,
      wrongHits: 0,
      evicted: 0,
    };
    this.books.set(route, book);
    return book;
  }

  private learn(judgement: LoggedJudgement): void {
    const { route, role, same } = judgement;
    const book = this.bookOf(route);
    book.experience.learn(judgement);
    if (role === 'hit' || role === 'learned') {
      book.judgedHits += 1;
      if (!same) this.wrong(book, judgement);
    } else {
      book.judgedNearMisses += 1;
      if (same) book.sameNearMisses += 1;
    }
  }

  private wrong(book: Book, { partition, kept }: LoggedJudgement): void {
    book.wrongHits += 1;
    const times = (this.wrongs.get(kept) ?? 0) + 1;
    this.wrongs.set(kept, times);
    if (times < WRONG_BEFORE_EVICTION) return;
    this.wrongs.delete(kept);
    book.evicted += 1;
    book.experience.groups.forget(kept);
    this.evict({ partition, id: kept });
  }
}

function qualityOf(book: Book): RouteQuality {
  const { lookups, hits, judgedHits, wrongHits, experience } = book;
  const right = judgedHits - wrongHits;
  return {
    lookups,
    hits,
    hit_rate: lookups === 0 ? null : hits / lookups,
    judged_hits: judgedHits,
    judged_near_misses: book.judgedNearMisses,
    same_near_misses: book.sameNearMisses,
    wrong_hits: wrongHits,
    precision: judgedHits === 0 ? null : right / judgedHits,
    precision_at_least: judgedHits === 0 ? null : wilsonLower(right, judgedHits),
    boundary: experience.boundary,
    trusts_guard: experience.trustsGuard,
    evicted: book.evicted,
  };
}
