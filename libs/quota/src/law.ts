import { portion, type Binding, type GrowthSettings, type LimitName, type Terms } from './limits';
import type { ModelUse } from './model-use';
import type { LimitUse } from './permits';
import type { Ring } from './ring';
import { TOKENS } from './shapes';

/** One call that asks for a permit. */
export interface Ask {
  /** Rank of its class. */
  readonly rank: number;
  readonly tokens: number;
  /** By only one of share and guarantee (`min_share`) of the class; absent: by either. */
  readonly only?: 'share' | 'guarantee' | undefined;
}

export interface LimitRefusal {
  readonly admitted: false;
  readonly limit: Binding;
  /** Milliseconds since the epoch of the next moment at which it may fit; null: when a call ends. */
  readonly at: number | null;
}

export type Verdict = { readonly admitted: true } | LimitRefusal;

const ADMITTED: Verdict = { admitted: true };
const FULL: Verdict = { admitted: false, limit: 'inflight', at: null };

/**
 * Whether a model admits one more call at the moment to which its use was advanced, and else which limit refuses it and
 * when that next changes.
 */
export function judge(terms: Terms, use: ModelUse, ask: Ask): Verdict {
  if (!within(terms.inflight, use.inflight, 0, 1, ask, terms)) return FULL;
  const { learned, time } = use;
  const rpm = learned?.requests.limit(terms.rpm, time) ?? terms.rpm;
  const tpm = learned?.tokens.limit(terms.tpm, time) ?? terms.tpm;
  const refusal =
    judgeRing('rpm', rpm, use.minute, 0, 1, ask, terms) ??
    judgeRing('tpm', tpm, use.minute, TOKENS, ask.tokens, ask, terms) ??
    judgeRing('tpd', terms.tpd, use.day, 0, ask.tokens, ask, terms) ??
    judgeGrowth(terms, use.growth, ask) ??
    judgeLearned(terms, use, ask);
  if (refusal === null) return ADMITTED;
  const told = refusal.limit === 'rpm' ? learned?.requests : refusal.limit === 'tpm' ? learned?.tokens : undefined;
  const at = Math.min(refusal.at ?? Infinity, told?.capEnd(time) ?? Infinity);
  return { ...refusal, at: at === Infinity ? null : at - use.ahead };
}

/** What a call is booked with: no more than the limits hold, or a call larger than a limit could never be made. */
export function bookable(terms: Terms, tokens: number): number {
  return Math.min(tokens, terms.tpm || Infinity, terms.tpd || Infinity);
}

function judgeRing(
  name: LimitName,
  limit: number,
  ring: Ring,
  lane: number,
  amount: number,
  ask: Ask,
  terms: Terms,
): LimitRefusal | null {
  const sums = ring.sums[0];
  if (limit === 0 || sums === undefined || within(limit, sums, lane, amount, ask, terms)) return null;
  return {
    admitted: false,
    limit: name,
    at: ring.whenFits(0, left => within(limit, left, lane, amount, ask, terms)),
  };
}

/**
 * Whether one more use keeps a limit (0: none) and the class's share of it, or else its guarantee. `lane` is that of
 * the most important class. What is larger than a share alone passes when nothing else is counted.
 */
function within(limit: number, used: Float64Array, lane: number, amount: number, ask: Ask, terms: Terms): boolean {
  if (limit === 0) return true;
  const total = sumOf(used, lane);
  const whole = Math.min(amount, limit);
  if (total + whole > limit) return false;
  if (ask.only !== 'guarantee') {
    const share = portion(terms.share[ask.rank] ?? 1, limit);
    if (total + Math.min(whole, share) <= share) return true;
  }
  return ask.only !== 'share' && (used[lane + ask.rank] ?? 0) + whole <= portion(terms.min_share[ask.rank] ?? 0, limit);
}

function judgeGrowth(terms: Terms, ring: Ring | null, ask: Ask): LimitRefusal | null {
  const { growth } = terms;
  const sums = ring?.sums[0];
  if (growth === undefined || !ring || sums === undefined) return null;
  const both = ring.sums[1] ?? sums;
  const fits = (current: Float64Array): boolean => mayGrow(growth, both, current, ask, terms);
  return fits(sums) ? null : { admitted: false, limit: 'growth', at: ring.whenFits(0, fits) };
}

/**
 * Whether the current period may hold one call more, and the class's share of that, or else its guarantee. Beyond its share
 * a class may have what it had in the period before, and its share of growth of that: low classes alone make the ramp
 * rise, which the others find warm, and never take the place of what higher ones had.
 */
function mayGrow(growth: GrowthSettings, both: Float64Array, current: Float64Array, ask: Ask, terms: Terms): boolean {
  const { rank, only } = ask;
  const total = sumOf(current);
  const own = current[rank] ?? 0;
  const allowed = allowance(growth, sumOf(both) - total);
  if (total + 1 > allowed) return false;
  const share = terms.share[rank] ?? 1;
  const again = grown((both[rank] ?? 0) - own, share * growth.max_ratio);
  if (only !== 'guarantee' && (total + 1 <= portion(share, allowed) || own + 1 <= again)) return true;
  return only !== 'share' && own + 1 <= portion(terms.min_share[rank] ?? 0, allowed);
}

/** What answers have taught; it binds all classes alike. */
function judgeLearned({ climb }: Terms, { learned, time }: ModelUse, { tokens }: Ask): LimitRefusal | null {
  const refusal = climb && learned?.refusal(climb, tokens, time);
  return refusal ? { admitted: false, ...refusal } : null;
}

/** The calls that the current period may hold. */
function allowance({ floor_rps, per_s, max_ratio }: GrowthSettings, before: number): number {
  return Math.max(grown(floor_rps * per_s, 0), grown(before, max_ratio));
}

/** The tiny addend undoes binary fractions. */
function grown(before: number, ratio: number): number {
  return (1 + ratio) * before + 1e-9;
}

/** Over the classes, from the lane of the most important on. */
function sumOf(lanes: Float64Array | undefined, lane = 0): number {
  return (lanes?.[lane] ?? 0) + (lanes?.[lane + 1] ?? 0) + (lanes?.[lane + 2] ?? 0);
}

/** What the limits of a model hold now, and how much of it is used; only of limits that there are. */
export function usage(terms: Terms, use: ModelUse): readonly LimitUse[] {
  const [minute, day] = [use.minute.sums[0], use.day.sums[0]];
  const uses: LimitUse[] = [
    { limit: 'inflight', admitted: terms.inflight, used: sumOf(use.inflight) },
    { limit: 'rpm', admitted: terms.rpm, used: sumOf(minute) },
    { limit: 'tpm', admitted: terms.tpm, used: sumOf(minute, TOKENS) },
    { limit: 'tpd', admitted: terms.tpd, used: sumOf(day) },
  ];
  if (terms.growth && use.growth) {
    const [used, both] = [sumOf(use.growth.sums[0]), sumOf(use.growth.sums[1])];
    uses.push({ limit: 'growth', admitted: Math.floor(allowance(terms.growth, both - used)), used });
  }
  return uses.filter(({ limit, admitted }) => admitted > 0 || limit === 'growth');
}
