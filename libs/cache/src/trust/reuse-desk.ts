import type { KeyedCall } from '@spillway/contracts';
import type { Neighbour } from '../vectors/vector-index';
import type { Weighed } from './experience';
import type { JudgeDesk, Pair } from './judge-desk';
import type { JudgementLog } from './judgement-log';
import type { Reuse, Reuses } from './reuses';
import type { RouteQuality, Trust } from './trust';

/** Candidates of a call that are judged. */
const JUDGED = 3;

/** What was found near the question of a call. */
export interface NearQuestions {
  readonly text: string;
  /** Of the neighbours. */
  readonly partition: string;
  /** Nearest first. */
  readonly neighbours: readonly Neighbour[];
}

/**
 * What the semantic tier asks of experience, and tells it: who may be reused beyond what the guard lets through, what
 * was, and what was only near.
 */
export class ReuseDesk {
  constructor(
    private readonly trust: Trust,
    private readonly judge: JudgeDesk,
    private readonly judgements: Pick<JudgementLog, 'append'>,
    private readonly reuses: Reuses,
  ) {}

  /** Whether what the guard lets through may be reused on this route. */
  trustsGuard(route: string): boolean {
    return this.trust.of(route).trustsGuard;
  }

  /** The neighbours with what experience says of them, likeliest first; none where nobody judges. */
  weigh({ route }: KeyedCall, { text, neighbours }: NearQuestions): readonly Weighed<Neighbour>[] {
    return this.judge.isOpen && neighbours.length > 0 ? this.trust.of(route.name).weigh(text, neighbours) : [];
  }

  /** Whether experience lets the answer of a neighbour serve. */
  isSure({ route, controls }: KeyedCall, { candidate, probability, dangerous }: Weighed<Neighbour>): boolean {
    const { boundary } = this.trust.of(route.name);
    if (dangerous || boundary === null || probability < boundary) return false;
    return candidate.score >= (controls.cacheThreshold ?? 0);
  }

  /**
   * An answer was reused, or in shadow would have been. Of what the guard lets through a sample is judged; what is
   * reused because experience was sure (`learned`) is judged always: the boundary is drawn from what lies above it, too.
   */
  reused(call: KeyedCall, near: NearQuestions, neighbour: Neighbour, learned: Weighed<Neighbour> | null): void {
    const { route, cacheKey, id } = call;
    this.looked(call, near, true);
    if (cacheKey === null) return;
    const role = learned === null ? 'hit' : 'learned';
    const reuse: Reuse = { route: route.name, partition: near.partition, asked: cacheKey, kept: neighbour.id, role };
    this.reuses.remember(id, reuse);
    const pairOf = (features: Pair['features']): Pair => ({ ...reuse, features, texts: [near.text, neighbour.text] });
    if (learned !== null) this.judge.all([pairOf(learned.features)]);
    else this.judge.sampled(() => pairOf(this.featuresOf(route.name, near, neighbour)));
  }

  /** Nothing served: what came nearest is judged, so that the next one may be served. */
  missed(call: KeyedCall, near: NearQuestions, weighed: readonly Weighed<Neighbour>[]): void {
    this.looked(call, near, false);
    const { cacheKey, route } = call;
    if (cacheKey === null) return;
    const harmless = weighed.filter(({ dangerous }) => !dangerous).slice(0, JUDGED);
    this.judge.all(
      harmless.map(({ candidate, features }, place): Pair => ({
        route: route.name,
        partition: near.partition,
        asked: cacheKey,
        kept: candidate.id,
        features,
        role: place === 0 ? 'first' : 'other',
        texts: [near.text, candidate.text],
      })),
    );
  }

  /** Somebody says of a call whether the reused answer was wrong; false where no reuse is known under this id. */
  async feedback(requestId: string, wrong: boolean): Promise<boolean> {
    const reuse = await this.reuses.find(requestId);
    if (reuse === null) return false;
    this.judgements.append({ ...reuse, features: null, same: !wrong, source: 'feedback' });
    return true;
  }

  quality(): Readonly<Record<string, RouteQuality>> {
    return this.trust.quality();
  }

  private featuresOf(route: string, { text, neighbours }: NearQuestions, neighbour: Neighbour): Pair['features'] {
    const weighed = this.trust.of(route).weigh(text, neighbours);
    return weighed.find(({ candidate }) => candidate === neighbour)?.features ?? null;
  }

  private looked({ route }: KeyedCall, { text }: NearQuestions, hit: boolean): void {
    this.trust.looked(route.name, hit);
    if (this.judge.isOpen) this.trust.of(route.name).seen(text);
  }
}
