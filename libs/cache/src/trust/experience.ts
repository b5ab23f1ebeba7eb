import { dangerOf } from '../language/dangers';
import { differenceOf } from '../language/difference';
import { read, type Term } from '../language/reading';
import { LEAST_LABELS, boundaryOf, wilsonLower, type ErrorBudget } from './boundary';
import { Groups } from './groups';
import { gramsOf, rareCosine } from './grams';
import { conceptsOf, pairFeatures } from './pair-features';
import { PRIOR } from './prior';
import { Rarity } from './rarity';
import { Verifier } from './verifier';

/** Trials that the boundary is drawn from, the latest. */
const WINDOW = 2_000;
/** Trials between two boundaries. */
const STEP = 50;
/** What a candidate without rivals is ahead of. */
const NOTHING_NEAR = 0.3;

export interface Candidate {
  /** Names the kept question. */
  readonly id: string;
  readonly text: string;
  /** Cosine. */
  readonly score: number;
}

/** A candidate with what experience says of it. */
export interface Weighed<C extends Candidate> {
  readonly candidate: C;
  /** That its answer serves, 0 to 1; 0 while nothing was learned. */
  readonly probability: number;
  readonly features: readonly number[];
  /** Differs in polarity, quantity, role, scope, time, person or condition: never reused, whatever was learned. */
  readonly dangerous: boolean;
}

/** What was found of one pair of questions. */
export interface Judgement {
  readonly asked: string;
  readonly kept: string;
  /** Null where nobody weighed the pair. */
  readonly features: readonly number[] | null;
  readonly same: boolean;
  /**
   * `hit`: reused because the guard let it through · `learned`: reused because experience was sure · of a call that
   * reused nothing, `first`: the likeliest candidate · `other`: one of the rest.
   */
  readonly role: 'hit' | 'learned' | 'first' | 'other';
}

/** How near a candidate is: by the embedder, by its words, by pieces of them. */
type Measure = 'score' | 'words' | 'grams';

interface Near<C> extends Readonly<Record<Measure, number>> {
  readonly candidate: C;
  readonly kept: readonly Term[];
  readonly group: object | string;
}

interface Kept {
  readonly features: readonly number[];
  readonly same: boolean;
}

/** What one route has learned of reuse: which questions share an answer, and how sure is sure enough. */
export class Experience {
  /** The least probability at which a candidate is reused; null: not known yet. */
  boundary: number | null = null;
  readonly groups = new Groups();
  private readonly verifier = new Verifier(PRIOR);
  private readonly rarity = new Rarity<string>();
  private readonly gramRarity = new Rarity<number>();
  private readonly trials: Kept[] = [];
  private readonly hits: boolean[] = [];
  /** Of `hits`: counted along, as every call asks. */
  private wrongHits = 0;
  private count = 0;

  constructor(private readonly budget: () => ErrorBudget) {}

  /** The candidates, likeliest first. */
  weigh<C extends Candidate>(question: string, candidates: readonly C[]): readonly Weighed<C>[] {
    const [asked, grams] = [read(question), gramsOf(question)];
    const concepts = conceptsOf(asked);
    const near = candidates.map((candidate): Near<C> => {
      const kept = read(candidate.text);
      return {
        candidate,
        kept,
        group: this.groups.of(candidate.id),
        score: candidate.score,
        words: rareCosine(concepts, conceptsOf(kept), this.rarity),
        grams: rareCosine(grams, gramsOf(candidate.text), this.gramRarity),
      };
    });
    const weighed = near.map(one => this.weighOne(asked, one, near));
    return weighed.sort((a, b) => b.probability - a.probability || b.candidate.score - a.candidate.score);
  }

  /** A question was asked: its words are less rare from now on. */
  seen(question: string): void {
    this.rarity.seen(conceptsOf(read(question)));
    this.gramRarity.seen(gramsOf(question));
  }

  /** Whether what the guard lets through may be reused here: not after it has proved wrong too often. */
  get trustsGuard(): boolean {
    if (this.hits.length < LEAST_LABELS) return true;
    return wilsonLower(this.wrongHits, this.hits.length) <= this.budget().errors;
  }

  learn({ asked, kept, features, same, role }: Judgement): void {
    if (same) this.groups.join(asked, kept);
    if (role === 'hit') this.countHit(same);
    if (features === null) return;
    this.verifier.learn(features, same);
    // What the guard lets through is reused without a boundary, and most of it is not judged.
    if (role === 'other' || role === 'hit') return;
    push(this.trials, { features, same });
    this.count += 1;
    if (this.count % STEP === 0) this.draw();
  }

  private countHit(same: boolean): void {
    if (!same) this.wrongHits += 1;
    if (push(this.hits, same) === false) this.wrongHits -= 1;
  }

  private draw(): void {
    const trials = this.trials.map(({ features, same }) => ({
      same,
      probability: this.verifier.probability(features),
    }));
    this.boundary = boundaryOf(trials, this.budget());
  }

  private weighOne<C extends Candidate>(asked: readonly Term[], one: Near<C>, all: readonly Near<C>[]): Weighed<C> {
    const { candidate, kept, group, score, words, grams } = one;
    const total = all.reduce((sum, other) => sum + other.score, 0) || 1;
    const together = all.filter(other => other.group === group).reduce((sum, other) => sum + other.score, 0);
    const rivals = all.filter(other => other.group !== group);
    const leadIn = (by: Measure): number =>
      one[by] - (rivals.length === 0 ? NOTHING_NEAR : Math.max(...rivals.map(rival => rival[by])));
    const difference = differenceOf(asked, kept);
    const danger = dangerOf(difference);
    const features = pairFeatures(
      {
        asked,
        kept,
        difference,
        danger,
        score,
        words,
        grams,
        lead: leadIn('score'),
        wordLead: leadIn('words'),
        gramLead: leadIn('grams'),
        agreement: together / total,
        groupSize: this.groups.sizeOf(candidate.id),
      },
      this.rarity,
    );
    return { candidate, probability: this.verifier.probability(features), features, dangerous: danger !== null };
  }
}

/** Returns what falls out of the window; undefined: nothing. */
function push<Value>(window: Value[], value: Value): Value | undefined {
  window.push(value);
  return window.length > WINDOW ? window.shift() : undefined;
}
