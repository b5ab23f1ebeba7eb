import type { Call, HedgeRefusal, ModelSettings } from '@spillway/contracts';

/** So many calls of a route may ask a second model in a row, however many came before them. */
const MOST_IN_A_ROW = 5;
/** A tenth ten times is a little less than one. */
const ROUNDING = 1e-9;

/** Whether a second model may be asked for a call at all: only where somebody waits for words, and the route wants it. */
export function mayHedge({ priority, operation, route, journal }: Call): boolean {
  return priority === 'critical' && operation === 'chat' && route.hedge !== undefined && journal.hedge === null;
}

/** What is known when a model has taken longer than usual. */
export interface Delay {
  readonly isHighLoad: boolean;
  /** The other models of the chain, in order of preference. */
  readonly others: readonly ModelSettings[];
  readonly isWell: (model: ModelSettings) => boolean;
  /** Takes one call from the share of the route; false: it is used up. */
  readonly takeShare: () => boolean;
}

export type Choice =
  { readonly kind: 'second'; readonly model: ModelSettings } | { readonly kind: 'none'; readonly why: HedgeRefusal };

/** The second model for a call, or why there is none: more calls help a slow model, and make an outage worse. */
export function chooseSecond({ isHighLoad, others, isWell, takeShare }: Delay): Choice {
  if (isHighLoad) return { kind: 'none', why: 'high-load' };
  const model = others.find(isWell);
  if (model === undefined) return { kind: 'none', why: 'not-well' };
  return takeShare() ? { kind: 'second', model } : { kind: 'none', why: 'over-share' };
}

/** How many calls of a route may ask a second model: a share of them, as they come. */
export class HedgeShare {
  private room = 0;

  /** A call has come. */
  count(share: number): void {
    this.room = Math.min(MOST_IN_A_ROW, this.room + share);
  }

  take(): boolean {
    if (this.room < 1 - ROUNDING) return false;
    this.room -= 1;
    return true;
  }

  /** It was taken, but no second model was asked. */
  giveBack(): void {
    this.room += 1;
  }
}
