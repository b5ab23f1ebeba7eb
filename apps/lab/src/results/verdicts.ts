import type { Target } from '../scenario/schema';
import type { Figures } from './figures';

/** Whether a target was reached; undecided where there is no figure. */
export interface Verdict {
  readonly target: Target;
  readonly figure: number | null;
  readonly bound: number | null;
  readonly result: 'met' | 'missed' | 'undecided';
}

/** Holds the figures of the arms against the targets of the scenario; `floor` is an arm of that name too. */
export function verdictsOf(targets: readonly Target[], arms: Readonly<Record<string, Figures>>): Verdict[] {
  return targets.map(target => {
    const figure = arms[target.arm]?.[target.figure] ?? null;
    const bound = boundOf(target, arms);
    return { target, figure, bound, result: resultOf(target, figure, bound, arms) };
  });
}

/** Arms, beside its own, that a target looks at. */
export function boundArms({ at_least, at_most }: Target): readonly string[] {
  const bound = at_least ?? at_most;
  return typeof bound === 'object' && bound.arm !== undefined ? [bound.arm] : [];
}

function boundOf(target: Target, arms: Readonly<Record<string, Figures>>): number | null {
  const bound = target.at_least ?? target.at_most ?? null;
  if (bound === null || typeof bound === 'number') return bound;
  const figure = arms[bound.arm ?? target.arm]?.[bound.figure];
  return figure === undefined || figure === null ? null : bound.times * figure;
}

function resultOf(
  target: Target,
  figure: number | null,
  bound: number | null,
  arms: Readonly<Record<string, Figures>>,
): Verdict['result'] {
  if (bound === null) return 'undecided';
  if (figure === null) return isNeverReached(target, arms) ? 'missed' : 'undecided';
  return (target.at_least === undefined ? figure <= bound : figure >= bound) ? 'met' : 'missed';
}

/** A quantile without a figure although there were calls: so many were never answered. */
function isNeverReached({ arm, figure }: Target, arms: Readonly<Record<string, Figures>>): boolean {
  const [, name] = /^(.*)\.p\d+$/.exec(figure) ?? [];
  return name !== undefined && (arms[arm]?.[`${name}.calls`] ?? 0) > 0;
}
