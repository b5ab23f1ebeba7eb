import { NotCached, SpillwayError, type CacheTier, type Caller, type Errands } from '@spillway/contracts';
import { inParallel } from './in-parallel';
import { BadLine, readSeed } from './seed-line';
import type { LineFailure } from './seed-progress';

/** How many questions of a sample the caches would answer now, by the tier that would. */
export interface CacheSurvey {
  readonly total: number;
  readonly exact: number;
  readonly canonical: number;
  readonly semantic: number;
  readonly none: number;
  readonly failed: number;
  /** The first ones only. */
  readonly failures: readonly LineFailure[];
}

export interface SurveyTerms {
  readonly caller: Caller;
  /** For lines that name none. */
  readonly route: string | null;
  /** Lines at the same time. */
  readonly concurrency: number;
}

const MOST_FAILURES = 1_000;

/** Looks questions up as a caller would, and calls no model. */
export async function surveyCaches(
  errands: Pick<Errands, 'run'>,
  lines: AsyncIterable<string>,
  terms: SurveyTerms,
): Promise<CacheSurvey> {
  const counts = { total: 0, exact: 0, canonical: 0, semantic: 0, none: 0, failed: 0 };
  const failures: LineFailure[] = [];
  let number = 0;
  await inParallel(lines, terms.concurrency, async text => {
    const line = ++number;
    if (text === '') return;
    counts.total += 1;
    try {
      counts[(await tierOf(errands, text, terms)) ?? 'none'] += 1;
    } catch (error) {
      if (!(error instanceof BadLine || error instanceof SpillwayError)) throw error;
      counts.failed += 1;
      if (failures.length < MOST_FAILURES) failures.push({ line, reason: error.message });
    }
  });
  return { ...counts, failures };
}

async function tierOf(
  errands: Pick<Errands, 'run'>,
  text: string,
  { caller, route: defaultRoute }: SurveyTerms,
): Promise<CacheTier | null> {
  const { scope, route, request } = readSeed(text);
  const model = route ?? defaultRoute;
  if (model === null) throw new BadLine('names no route');
  const headers = { 'cache-control': 'only-if-cached', 'x-spillway-scope': scope };
  try {
    const { journal } = await errands.run({ body: { model, ...request }, caller, priority: 'low', headers });
    return journal.cacheTier;
  } catch (error) {
    if (error instanceof NotCached) return null;
    throw error;
  }
}
