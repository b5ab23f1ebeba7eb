import type { JsonObject } from '@spillway/contracts';
import fc from 'fast-check';
import { Histogram } from '../histogram';
import { OutputPrediction, type PredictedCall } from './output-prediction';

function call(body: JsonObject = {}, changes: Partial<PredictedCall> & { readonly to?: string } = {}): PredictedCall {
  const cache = { exact: true, semantic: false, ttl_s: 60, threshold: 0.92, guard: 'balanced' } as const;
  const degradation = { stale_if_error_s: 0, fallback_response: { critical: null, normal: null, low: null } };
  const route = { name: changes.to ?? 'assistant', chain: [], chain_by_priority: {}, cache, ...degradation };
  return { body, route, priority: 'normal', streaming: false, ...changes };
}

/** The same numbers in every run, evenly spread over 0 to 1. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state + 0.5) / 2 ** 32;
  };
}

/** Lengths as answers have them: median 200 tokens, one in ten above 720, few very long. */
function answerLengths(seed: number): () => number {
  const random = randomNumbers(seed);
  return () => {
    const normal = Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random());
    return Math.max(1, Math.round(200 * Math.exp(normal)));
  };
}

function shareAbove(prediction: OutputPrediction, next: () => number, calls: number): number {
  let above = 0;
  for (let index = 0; index < calls; index++) {
    const length = next();
    if (length > prediction.predict(call(), 100)) above++;
    prediction.learning(call(), 100, length)();
  }
  return above / calls;
}

describe('before there is anything to learn from', () => {
  it('takes a usual long answer, or what the caller allows', () => {
    const prediction = new OutputPrediction();
    expect(prediction.predict(call(), 100)).toBe(512);
    expect(prediction.predict(call({ max_tokens: 150 }), 100)).toBe(150);
    expect(prediction.predict(call({ max_completion_tokens: 64, max_tokens: 150 }), 100)).toBe(64);
    expect(prediction.predict(call({ max_tokens: 8000 }), 100)).toBe(512);
  });

  it('multiplies by the number of choices', () => {
    expect(new OutputPrediction().predict(call({ max_tokens: 100, n: 3 }), 100)).toBe(300);
    expect(new OutputPrediction().predict(call({ max_tokens: 100, n: 1e9 }), 100)).toBe(12_800);
  });

  it('ignores what is no number', () => {
    const odd = { max_tokens: '10', max_completion_tokens: -1, n: 'many' };
    expect(new OutputPrediction().predict(call(odd), 100)).toBe(512);
  });
});

describe('what it learned', () => {
  it.each([1, 2, 3, 4, 5])('is exceeded by about one call in ten after 500 calls (seed %i)', seed => {
    const prediction = new OutputPrediction();
    const next = answerLengths(seed);
    for (let index = 0; index < 500; index++) prediction.learning(call(), 100, next())();
    const share = shareAbove(prediction, next, 1000);
    expect(share).toBeGreaterThan(0.05);
    expect(share).toBeLessThan(0.15);
  });

  it('follows answers that change', () => {
    const prediction = new OutputPrediction();
    for (let index = 0; index < 2000; index++) prediction.learning(call(), 100, 50)();
    expect(prediction.predict(call(), 100)).toBeLessThan(65);
    for (let index = 0; index < 500; index++) prediction.learning(call(), 100, 400)();
    expect(prediction.predict(call(), 100)).toBeGreaterThan(350);
    for (let index = 0; index < 1500; index++) prediction.learning(call(), 100, 50)();
    expect(prediction.predict(call(), 100)).toBeLessThan(65);
  });

  it('tells apart routes, classes, sizes, bounds and streams', () => {
    const others: [PredictedCall, number][] = [
      [call({}, { to: 'summary' }), 100],
      [call({}, { priority: 'low' }), 100],
      [call(), 5000],
      [call({ max_tokens: 4000 }), 100],
      [call({}, { streaming: true }), 100],
    ];
    for (const [other, inputTokens] of others) {
      const prediction = new OutputPrediction();
      for (let index = 0; index < 50; index++) {
        prediction.learning(call(), 100, 30)();
        prediction.learning(other, inputTokens, 900)();
      }
      expect(prediction.predict(call(), 100)).toBeLessThan(40);
      expect(prediction.predict(other, inputTokens)).toBeGreaterThan(750);
    }
  });

  it('asks coarser groups as long as similar calls are few', () => {
    const prediction = new OutputPrediction();
    for (let index = 0; index < 50; index++) prediction.learning(call(), 100, 30)();
    expect(prediction.predict(call(), 5000)).toBeLessThan(40);
    expect(prediction.predict(call({}, { priority: 'low' }), 100)).toBeLessThan(40);
    expect(prediction.predict(call({}, { to: 'new-route' }), 100)).toBeLessThan(40);
  });

  it('holds for one choice, and is multiplied', () => {
    const prediction = new OutputPrediction();
    for (let index = 0; index < 50; index++) prediction.learning(call({ n: 4 }), 100, 400)();
    expect(prediction.predict(call(), 100)).toBeLessThan(120);
    expect(prediction.predict(call({ n: 2 }), 100)).toBeGreaterThan(180);
  });

  it('is never above what the caller allows, and never below 0', () => {
    const count = fc.integer({ min: 0, max: 5000 });
    fc.assert(
      fc.property(fc.array(count, { maxLength: 60 }), count, fc.integer({ min: 1, max: 8 }), (lengths, bound, n) => {
        const prediction = new OutputPrediction();
        for (const length of lengths) prediction.learning(call(), 100, length)();
        const predicted = prediction.predict(call({ max_tokens: bound, n }), 100);
        expect(predicted).toBeLessThanOrEqual(bound * n);
        expect(predicted).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  it('leaves out lengths that cannot be', () => {
    const prediction = new OutputPrediction();
    for (let index = 0; index < 50; index++)
      for (const length of [0, -3, NaN, Infinity]) prediction.learning(call(), 100, length)();
    expect(prediction.predict(call(), 100)).toBe(512);
  });
});

describe('the histogram', () => {
  it('finds any quantile within a bucket of the exact one', () => {
    const lengths = fc.array(fc.integer({ min: 1, max: 200_000 }), { minLength: 1, maxLength: 400 });
    fc.assert(
      fc.property(lengths, fc.double({ min: 0.01, max: 0.99, noNaN: true }), (values, share) => {
        const histogram = new Histogram();
        for (const value of values) histogram.add(value);
        const sorted = [...values].sort((one, other) => one - other);
        const exact = sorted[Math.min(values.length, Math.ceil(share * (values.length + 1))) - 1] ?? 0;
        const ratio = histogram.quantile(share) / exact;
        expect(ratio).toBeGreaterThan(2 ** -0.251);
        expect(ratio).toBeLessThan(2 ** 0.251);
      }),
    );
  });

  it('knows nothing before the first call', () => {
    expect(new Histogram().quantile(0.9)).toBe(0);
  });
});
