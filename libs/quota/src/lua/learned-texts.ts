import type { Observed } from '@spillway/contracts';
import type { LearnedReport } from '../learned';
import type { ObservedUse } from '../observed-window';

/** What an answer told of limits, as the scripts take it: without nulls, which are no nil in Lua. */
export function observedText(observed: Observed | undefined): string {
  if (observed === undefined) return '';
  return JSON.stringify(observed, (_, value: unknown) => value ?? undefined);
}

type Told<T> = { readonly [Name in keyof T]?: NonNullable<T[Name]> };

/** What the scripts tell of what was learned; what they have no word on is null. */
export function learnedFrom(text: string): LearnedReport {
  const told = JSON.parse(text) as Pick<LearnedReport, 'mode' | 'restMs'> &
    Told<Pick<LearnedReport, 'rate' | 'why'>> &
    Partial<Record<'requests' | 'tokens', Told<ObservedUse>>>;
  const use = ({ left, limit, resetMs }: Told<ObservedUse>): ObservedUse => ({
    left: left ?? null,
    limit: limit ?? null,
    resetMs: resetMs ?? 0,
  });
  return {
    mode: told.mode,
    rate: told.rate ?? null,
    why: told.why ?? null,
    restMs: told.restMs,
    observed: {
      ...(told.requests && { requests: use(told.requests) }),
      ...(told.tokens && { tokens: use(told.tokens) }),
    },
  };
}
