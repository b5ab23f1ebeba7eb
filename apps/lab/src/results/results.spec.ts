import type { Reply } from '../callers/caller';
import { figuresOf } from './figures';
import { quotaUse } from './quota-use';
import { recordOf, type CallRecord } from './records';
import { RightAnswers } from './right-answers';
import type { Sample } from './samples';
import { bySpan, quantile } from './statistics';
import { verdictsOf } from './verdicts';

const question = { scope: 'p', intent: 'size', system: 's', text: 'How big?' };
const planned = { ms: 0, load: 'shop', key: null, priority: 'critical', question } as const;
const answer: Reply = { kind: 'answer', text: 'You asked: How big?\n', tier: 'exact', tries: 1 };
const record = (reply: Reply, tookMs = 10, right = true): CallRecord =>
  recordOf(planned, reply, tookMs, 1000, () => right);
const error = (status: number | null): Reply => ({ kind: 'error', status, tries: 3 });

const price = { input: 1, output: 10 };
const figures = (records: readonly CallRecord[], samples: readonly Sample[] = []) =>
  figuresOf({ records, samples, use: [], price, tokens: { input: 1_000_000, output: 100_000 } });

describe('records', () => {
  it('tells how a call ended', () => {
    const endings = [
      record(answer),
      record(answer, 1001),
      record({ kind: 'fallback' }),
      record(error(429)),
      record(error(504)),
      record(error(null)),
      record(error(503)),
    ];
    expect(endings.map(({ ending }) => ending)).toEqual([
      'answered',
      'late',
      'fallback',
      'refused',
      'late',
      'late',
      'failed',
    ]);
  });
});

describe('RightAnswers', () => {
  const answers = new RightAnswers([
    question,
    { ...question, text: 'What size?' },
    { ...question, intent: 'weight', text: 'How heavy?' },
  ]);

  it('accepts an answer to other words for the same, and no other', () => {
    expect(answers.isRight('… You asked: What size?\n amber', { question })).toBe(true);
    expect(answers.isRight('… You asked: How heavy?\n amber', { question })).toBe(false);
    expect(answers.isRight('You are welcome.', { question })).toBe(false);
  });
});

describe('figures', () => {
  it('counts shares, hits, wrong answers and money', () => {
    const result = figures([
      record(answer),
      record(answer, 20, false),
      record({ ...answer, tier: 'generated' }),
      record(error(429)),
    ]);
    expect(result['critical.in_time']).toBe(0.75);
    expect(result['critical.refused']).toBe(0.25);
    expect(result['hits']).toBe(0.5);
    expect(result['hits.wrong']).toBe(0.5);
    expect(result['all.retries']).toBe(0.5);
    expect(result['money']).toBe(2);
  });

  it('has no quantile where the call that it names was never answered', () => {
    const result = figures([record(answer), record(answer), record(error(null), 1500)]);
    expect(result['critical.p50']).toBe(10);
    expect(result['critical.p99']).toBeNull();
  });

  it('says nothing of the use of a quota for which hardly anybody waited', () => {
    const used = (moments: number) =>
      figuresOf({
        records: [],
        samples: [],
        use: Array.from({ length: moments }, () => ({ ms: 0, share: 0.9, binds: 'rpm', wanted: true }) as const),
        price,
        tokens: { input: 0, output: 0 },
      })['quota.used_while_waiting'];
    expect(used(9)).toBeNull();
    expect(used(10)).toBeCloseTo(0.9, 9);
  });

  it('knows which parts were lost, and whether they are at the last that is known', () => {
    const sample = (lost: Sample['lost']): Sample => ({
      ms: 0,
      provider: {},
      open: { critical: 0, normal: 0, low: 0 },
      queued: null,
      rates: {},
      lost,
      process: null,
    });
    const samples = [[], ['redis'], ['redis', 'qdrant'], ['qdrant'], null].map(sample);
    expect(figures([], samples)).toMatchObject({ 'parts.lost': 2, 'parts.lost_at_end': 1 });
    expect(figures([], [...samples, sample([])])['parts.lost_at_end']).toBe(0);
    expect(figures([])['parts.lost_at_end']).toBeNull();
  });
});

describe('statistics', () => {
  it('finds quantiles and spans', () => {
    expect(quantile([3, 1, 2, 4], 0.5)).toBe(3);
    expect(quantile([], 0.5)).toBeNull();
    expect(bySpan([0, 5, 10], value => value, 10, 2)).toEqual([[0], [5, 10]]);
  });
});

describe('quotaUse', () => {
  const sample = (ms: number, accepted: number, tokens: number, queued: number): Sample => ({
    ms,
    provider: { m: { accepted, refused: 0, tokens, inflight: 0 } },
    open: { critical: queued, normal: 0, low: 0 },
    queued: { critical: queued, normal: 0, low: 9 },
    rates: {},
    lost: null,
    process: null,
  });
  const limits = { rpm: 100, tpm: 1000, inflight: 0, growth: null };
  const granted = { limits, headroom: 0.2, windowMs: 60_000 };

  it('holds the last minute against what may be used, and knows what binds', () => {
    const use = quotaUse([sample(0, 0, 0, 0), sample(60_000, 40, 100, 1), sample(120_000, 80, 900, 1)], 'm', granted);
    expect(use.map(({ share }) => share)).toEqual([0, 0.5, 1]);
    expect(use.map(({ binds }) => binds)).toEqual(['rpm', 'rpm', 'tpm']);
    // Only at the last there was a wait at the look before, too.
    expect(use.map(({ wanted }) => wanted)).toEqual([false, false, true]);
  });

  it('lets the growth bind', () => {
    const growth = { max_ratio: 0.2, per_s: 10, floor_rps: 1 };
    const use = quotaUse([sample(0, 0, 0, 0), sample(10_000, 10, 0, 1)], 'm', {
      ...granted,
      limits: { ...limits, rpm: 0, tpm: 0, growth },
    });
    expect(use.at(-1)).toEqual({ ms: 10_000, share: 1, binds: 'growth', wanted: false });
  });
});

describe('verdicts', () => {
  const target = { what: 'w', arm: 'a', known: '–', unit: 'number' } as const;
  const result = (figure: string, bound: object): string =>
    verdictsOf([{ ...target, figure, ...bound }], {
      a: { hits: 0.6, 'critical.p95': null, 'critical.calls': 3, 'none.p95': null, 'none.calls': 0 },
      model: { 'all.p95': 100 },
    })[0]?.result ?? '';

  it('compares figures with their bounds', () => {
    expect(result('hits', { at_least: 0.6 })).toBe('met');
    expect(result('hits', { at_least: 0.61 })).toBe('missed');
    expect(result('hits', { at_most: 0.6 })).toBe('met');
    expect(result('hits', { at_most: { times: 0.001, figure: 'all.p95', arm: 'model' } })).toBe('missed');
  });

  it('misses a time that was never reached and decides nothing without calls', () => {
    expect(result('critical.p95', { at_most: 100 })).toBe('missed');
    expect(result('none.p95', { at_most: 100 })).toBe('undecided');
    expect(result('unknown', { at_most: 100 })).toBe('undecided');
  });
});
