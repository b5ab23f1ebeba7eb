import { PRIORITIES } from '@spillway/contracts';
import type { CallRecord } from './records';
import type { QuotaUse } from './quota-use';
import type { Sample } from './samples';
import { mean, quantile, ratio } from './statistics';

/** Fewer moments say nothing of how a quota is used. */
const LEAST_MOMENTS = 10;

/** Named figures of one arm; null where there is nothing to tell. */
export type Figures = Readonly<Record<string, number | null>>;

/** Everything that one arm has left behind. */
export interface ArmData {
  readonly records: readonly CallRecord[];
  readonly samples: readonly Sample[];
  /** Use of the first model's quota. */
  readonly use: readonly QuotaUse[];
  /** Per million tokens. */
  readonly price: { readonly input: number; readonly output: number };
  readonly tokens: { readonly input: number; readonly output: number };
}

/** Shares are 0 to 1, times milliseconds. */
export function figuresOf(data: ArmData): Figures {
  const { records, tokens, price } = data;
  const figures: Record<string, number | null> = { calls: records.length, ...hits(records), ...provider(data) };
  for (const priority of PRIORITIES) {
    Object.assign(
      figures,
      group(
        priority,
        records.filter(record => record.priority === priority),
      ),
    );
  }
  for (const load of new Set(records.map(record => record.load))) {
    Object.assign(
      figures,
      group(
        `load.${load}`,
        records.filter(record => record.load === load),
      ),
    );
  }
  Object.assign(figures, group('all', records));
  figures['money'] = (tokens.input * price.input + tokens.output * price.output) / 1e6;
  figures['money.per_1000_answers'] = ratio(
    (figures['money'] ?? 0) * 1000,
    records.filter(({ ending }) => ending === 'answered').length,
  );
  return figures;
}

/** A call that was never answered took longer than any that was: quantiles that reach it are null. */
function group(name: string, records: readonly CallRecord[]): Record<string, number | null> {
  const share = (matches: (record: CallRecord) => boolean): number | null =>
    ratio(records.filter(matches).length, records.length);
  const times = records.map(({ ending, tookMs }) => (ending === 'answered' ? tookMs : Infinity));
  const at = (part: number): number | null => {
    const value = quantile(times, part);
    return value === Infinity ? null : value;
  };
  return {
    [`${name}.calls`]: records.length,
    [`${name}.in_time`]: share(({ ending }) => ending === 'answered'),
    [`${name}.late`]: share(({ ending }) => ending === 'late'),
    [`${name}.fallback`]: share(({ ending }) => ending === 'fallback'),
    [`${name}.refused`]: share(({ ending }) => ending === 'refused'),
    [`${name}.failed`]: share(({ ending }) => ending === 'failed'),
    [`${name}.lost`]: share(({ ending }) => ending !== 'answered'),
    [`${name}.p50`]: at(0.5),
    [`${name}.p95`]: at(0.95),
    [`${name}.p99`]: at(0.99),
    [`${name}.retries`]: mean(records.map(({ tries }) => Math.max(0, tries - 1))),
  };
}

function hits(records: readonly CallRecord[]): Record<string, number | null> {
  const answers = records.filter(({ tier }) => tier !== null);
  const reused = answers.filter(({ tier }) => tier !== 'generated');
  const figures: Record<string, number | null> = {
    hits: ratio(reused.length, records.length),
    'hits.wrong': ratio(reused.filter(({ isWrong }) => isWrong).length, reused.length),
    'answers.wrong': answers.filter(({ isWrong }) => isWrong).length,
  };
  for (const tier of ['exact', 'canonical', 'semantic', 'coalesced'] as const) {
    figures[`hits.${tier}`] = ratio(reused.filter(record => record.tier === tier).length, records.length);
  }
  return figures;
}

function provider({ samples, use, tokens }: ArmData): Record<string, number | null> {
  const last = samples.at(-1);
  const total = (what: 'accepted' | 'refused'): number =>
    Object.values(last?.provider ?? {}).reduce((sum, counts) => sum + counts[what], 0);
  const wanted = use.filter(({ wanted, share }) => wanted && share !== null);
  const usedWhile = (matches: (moment: QuotaUse) => boolean): number | null => {
    const shares = wanted.filter(matches).map(({ share }) => share ?? 0);
    return shares.length < LEAST_MOMENTS ? null : mean(shares);
  };
  return {
    'provider.calls': total('accepted') + total('refused'),
    'provider.accepted': total('accepted'),
    'provider.refused': total('refused'),
    'provider.refused_share': ratio(total('refused'), total('accepted') + total('refused')),
    'provider.tokens': tokens.input + tokens.output,
    'quota.used_while_waiting': usedWhile(() => true),
    'quota.used_while_tokens_bind': usedWhile(({ binds }) => binds === 'tpm'),
    'quota.used_while_calls_bind': usedWhile(({ binds }) => binds === 'rpm'),
    'quota.used_while_growth_binds': usedWhile(({ binds }) => binds === 'growth'),
    'quota.moments_waiting': wanted.length,
    'parts.lost': new Set(samples.flatMap(({ lost }) => lost ?? [])).size,
    'parts.lost_at_end': samples.findLast(sample => sample.lost !== null)?.lost?.length ?? null,
    'process.rss_growth': growthOf(samples.map(({ process }) => process?.rss)),
    'process.handles_growth': growthOf(samples.map(({ process }) => process?.handles)),
  };
}

/** The mean of the last quarter over that of the second; the first quarter warms up. */
function growthOf(values: readonly (number | undefined)[]): number | null {
  const known = values.filter(value => value !== undefined);
  const quarter = Math.floor(known.length / 4);
  const [early, late] = [mean(known.slice(quarter, 2 * quarter)), mean(known.slice(3 * quarter))];
  return early === null || late === null ? null : ratio(late, early);
}
