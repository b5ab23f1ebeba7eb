import fc from 'fast-check';
import { ManualClock } from '../../../../test/support/manual-clock';
import { FULL_SHARES } from '../../../../test/support/permits';
import { termsFrom } from '../terms';
import { EffectiveLimits, type LimitSource } from './effective-limits';

type Model = NonNullable<ReturnType<LimitSource['current']['models']['get']>>;

const NONE = { rpm: 0, tpm: 0, tpd: 0, inflight: 0 };
const modelOf = (changes: Partial<Model>): Model => ({
  name: 'm',
  headroom: 0,
  adaptive_inflight: true,
  limits: NONE,
  ...changes,
});

function limitsOf(
  model: Model,
  known: { limit?: number; firstUse?: number; load?: number; returnedAt?: number } = {},
): EffectiveLimits {
  return new EffectiveLimits(
    { current: { models: new Map([['m', model]]), priorities: FULL_SHARES } },
    { limitOf: () => known.limit ?? null, firstUseOf: () => known.firstUse ?? null, slownessOf: () => 1.2 },
    { factorOf: () => known.load ?? 1 },
    new ManualClock(),
    { since: () => known.returnedAt ?? null },
  );
}

describe('the limits of a model as they are now', () => {
  const warmup = { factor: 0.5, hours: 24 };
  const limits = { rpm: 100, tpm: 1001, tpd: 1, inflight: 8 };

  it.each<[string, Partial<Model>, Parameters<typeof limitsOf>[1], object, object]>([
    ['none', {}, {}, NONE, { inflight: null, why: [], slowness: 1.2 }],
    ['those that are written', { limits }, { limit: 3 }, limits, { inflight: 8, why: ['configured'], slowness: null }],
    ['an adaptive one', {}, { limit: 3 }, { ...NONE, inflight: 3 }, { inflight: 3, why: ['adaptive'] }],
    [
      'an adaptive one beside others, of which no headroom is left alone',
      { limits: { ...NONE, rpm: 10 }, headroom: 0.2 },
      { limit: 9 },
      { ...NONE, rpm: 10, inflight: 12 },
      { inflight: 9, why: ['configured', 'adaptive'] },
    ],
    [
      'none where it may not adapt',
      { adaptive_inflight: false },
      { limit: 3 },
      NONE,
      { inflight: null, slowness: null },
    ],
    [
      'half of them while it is new',
      { limits, warmup },
      {},
      { rpm: 50, tpm: 500, tpd: 1, inflight: 4 },
      { inflight: 4, why: ['configured', 'warm-up'] },
    ],
    ['all of them later', { limits, warmup }, { firstUse: 1 }, limits, { inflight: 8, why: ['configured'] }],
    [
      'fewer tokens while its server is full',
      { limits, warmup },
      { load: 0.1 },
      { rpm: 50, tpm: 50, tpd: 1, inflight: 4 },
      { why: ['configured', 'warm-up', 'load'] },
    ],
    [
      '70 % of them by the minute and at a time while it comes back',
      { limits },
      { returnedAt: 1 },
      { rpm: 70, tpm: 700, tpd: 1, inflight: 5 },
      { inflight: 5, why: ['configured', 'returning'] },
    ],
    [
      'all tokens of a day also while it comes back',
      { limits: { ...NONE, tpd: 1_000 } },
      { returnedAt: 1 },
      { ...NONE, tpd: 1_000 },
      { why: ['configured', 'returning'] },
    ],
    ['70 % of an adaptive one as well', {}, { limit: 10, returnedAt: 1 }, { ...NONE, inflight: 7 }, { inflight: 7 }],
  ])('are %s', (_, changes, known, expected, report) => {
    const model = modelOf({ ...changes, ...(known?.load !== undefined && { load_url: 'http://127.0.0.1:1/' }) });
    const effective = limitsOf(model, known);
    expect(effective.limitsOf('m')?.limits).toEqual(expected);
    expect(effective.report('m')).toMatchObject(report);
  });

  it('are the same object until they change', () => {
    const model = modelOf({});
    expect(limitsOf(model).limitsOf('m')).toBe(model);
    const known = { limit: 3 };
    const effective = limitsOf(model, known);
    const before = effective.limitsOf('m');
    expect(effective.limitsOf('m')).toBe(before);
    known.limit = 4;
    expect(effective.limitsOf('m')?.limits.inflight).toBe(4);
  });

  it('of a model that is not configured are not known', () => {
    expect(limitsOf(modelOf({})).limitsOf('other')).toBeNull();
    expect(limitsOf(modelOf({})).report('other')).toBeNull();
  });

  it('admit exactly what is adaptive, whatever the headroom', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2_000 }), fc.integer({ min: 0, max: 99 }), (limit, headroom) => {
        const model = modelOf({ headroom: headroom / 100 });
        const admitted = termsFrom(limitsOf(model, { limit }).limitsOf('m') ?? model, FULL_SHARES).inflight;
        expect(admitted).toBe(limit);
      }),
    );
  });
});
