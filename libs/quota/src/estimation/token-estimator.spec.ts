import type { JsonObject, Usage } from '@spillway/contracts';
import { collectGarbage } from '../../../../test/support/garbage';
import { TokenEstimator, type EstimatedCall } from './token-estimator';

const model = { metric_label: 'm-primary', limits: { tpm: 0 } };

function learn(estimator: TokenEstimator, asked: EstimatedCall, usage: Usage, reserved = 100, of = model): void {
  estimator.begin(asked, of, reserved)({ usage, ms: 1000 });
}

function call(body: JsonObject, changes: Partial<EstimatedCall> = {}): EstimatedCall {
  const cache = { exact: true, semantic: false, ttl_s: 60, threshold: 0.92, guard: 'balanced' } as const;
  const degradation = { stale_if_error_s: 0, fallback_response: { critical: null, normal: null, low: null } };
  const route = { name: 'assistant', chain: [], chain_by_priority: {}, cache, ...degradation };
  return { body, operation: 'chat', route, priority: 'normal', streaming: false, ...changes };
}

const question = (content: string, more: JsonObject = {}): EstimatedCall =>
  call({ messages: [{ role: 'user', content }], ...more });

it('reserves input and the output that the caller allows', () => {
  const estimator = new TokenEstimator();
  const reserved = estimator.reserve(question('write much', { max_tokens: 150 }), model);
  expect(reserved).toBe(9 + 150);
});

it('reserves no output for embeddings', () => {
  const estimator = new TokenEstimator();
  const embedding = call({ input: 'Where is my parcel?' }, { operation: 'embeddings' });
  expect(estimator.reserve(embedding, model)).toBe(5);
});

it('comes near to what a model reports, and tells how near', () => {
  const estimator = new TokenEstimator();
  expect(estimator.errorOf(model)).toBeNull();
  for (let index = 0; index < 60; index++) {
    const asked = question(`Where is parcel ${index}? ${'I am waiting. '.repeat(index % 7)}`);
    const uncorrected = new TokenEstimator().reserve(asked, model) - 512;
    learn(estimator, asked, { input: 2 * uncorrected, output: 40 }, estimator.reserve(asked, model));
  }
  const asked = question('Where is parcel 99? I am waiting.');
  const truth = 2 * (new TokenEstimator().reserve(asked, model) - 512) + 40;
  expect(Math.abs(estimator.reserve(asked, model) - truth) / truth).toBeLessThan(0.1);
  const error = estimator.errorOf(model);
  expect(error?.calls).toBe(60);
  expect(error?.input).toBeGreaterThan(0);
  expect(error?.input).toBeLessThan(0.15);
});

it('tells how many calls used more than was reserved for them', () => {
  const estimator = new TokenEstimator();
  for (const output of [10, 10, 10, 900]) learn(estimator, question('Hi'), { input: 8, output }, 520);
  expect(estimator.errorOf(model)?.exceeded).toBe(0.25);
});

it('corrects every model by itself', () => {
  const estimator = new TokenEstimator();
  const asked = question('Where is my parcel?', { max_tokens: 1 });
  const before = estimator.reserve(asked, model);
  for (let index = 0; index < 50; index++) learn(estimator, asked, { input: 50, output: 1 });
  expect(estimator.reserve(asked, model)).toBeGreaterThan(40);
  expect(estimator.reserve(asked, { ...model, metric_label: 'm-other' })).toBe(before);
});

it('learns nothing from a report without tokens', () => {
  const estimator = new TokenEstimator();
  const asked = question('Where is my parcel?');
  const before = estimator.reserve(asked, model);
  for (let index = 0; index < 50; index++) {
    learn(estimator, asked, { input: 0, output: 0 });
    learn(estimator, asked, { input: NaN, output: NaN });
    learn(estimator, asked, { input: 5, output: NaN });
  }
  expect(estimator.reserve(asked, model)).toBe(before);
  expect(estimator.errorOf(model)).toBeNull();
});

describe('what is reserved of a limit on tokens', () => {
  const limited = { metric_label: 'm-limited', limits: { tpm: 150_000 } };
  /** A fifth of the answers is ten times as long as the others. */
  const lengthOf = (index: number): number => (index % 5 === 0 ? 1000 : 100);
  const taught = (ms: number): TokenEstimator => {
    const estimator = new TokenEstimator();
    for (let index = 0; index < 400; index++) {
      const end = estimator.begin(question('Hi'), limited, 100);
      end({ usage: { input: 8, output: lengthOf(index) }, ms });
    }
    return estimator;
  };

  it('is more than long answers have where few share it, and comes near to what those under way have where many do', () => {
    const underWay = (100 * 4 * 100 + 1000 * 1000) / (100 * 4 + 1000);
    const [few, some, many] = [10, 2000, 2_000_000].map(ms => taught(ms).reserve(question('Hi'), limited));
    expect(few).toBeGreaterThan(1000);
    expect(some).toBeLessThan(few ?? 0);
    expect(some).toBeGreaterThan(many ?? Infinity);
    expect(Math.abs((many ?? 0) - 8 - underWay)).toBeLessThan(25);
  });

  it('is never more than the caller allows, and nothing for the answer of an embedding', () => {
    const estimator = taught(10);
    expect(estimator.reserve(question('Hi', { max_tokens: 60 }), limited)).toBeLessThanOrEqual(8 + 60);
    const embedding = call({ input: 'Where is my parcel?' }, { operation: 'embeddings' });
    expect(estimator.reserve(embedding, limited)).toBeLessThan(10);
  });

  it('supposes no longer answers than a small limit can hold some of', () => {
    const small = { metric_label: 'm-small', limits: { tpm: 6000 } };
    const [alone, among] = [small, limited].map(model => new TokenEstimator().reserve(question('Hi'), model));
    expect(alone).toBeLessThan(1000);
    expect(among).toBeGreaterThan(2000);
  });

  it('learns from a burst as it began, not from the short answers that end first', () => {
    const estimator = new TokenEstimator();
    const burst = Array.from({ length: 250 }, (_, index) => ({
      index,
      end: estimator.begin(question('Hi'), limited, 100),
    }));
    const unknown = estimator.reserve(question('Hi'), limited);
    for (const { index, end } of burst.slice(1)) {
      if (lengthOf(index) === 100) end({ usage: { input: 8, output: 100 }, ms: 200 });
    }
    expect(estimator.reserve(question('Hi'), limited)).toBe(unknown);
    burst[0]?.end({ usage: { input: 8, output: 1000 }, ms: 2000 });
    expect(estimator.reserve(question('Hi'), limited)).not.toBe(unknown);
  });

  it.each([100_000, 50_000_000])(
    'hardly grows by one answer of %d tokens, and learns of those that come often',
    length => {
      const estimator = taught(6000);
      const usual = estimator.reserve(question('Hi'), limited);
      const answer = (output: number): void =>
        estimator.begin(question('Hi'), limited, 100)({ usage: { input: 8, output }, ms: 6000 });
      answer(length);
      expect(estimator.reserve(question('Hi'), limited)).toBeLessThan(20 * usual);
      for (let index = 1; index < 400; index++) answer(index % 50 === 0 ? 100_000 : 100);
      expect(estimator.reserve(question('Hi'), limited)).toBeGreaterThan(50_000);
    },
  );

  it('keeps nothing of a call that has ended while one that began before takes longer', async () => {
    const estimator = new TokenEstimator();
    const endOfLong = estimator.begin(question('Hi'), limited, 100);
    const answered = (): WeakRef<JsonObject> => {
      const { body, ...rest } = question('Here is a large picture.');
      estimator.begin({ body, ...rest }, limited, 100)({ usage: { input: 8, output: 100 }, ms: 200 });
      return new WeakRef(body);
    };
    const body = answered();
    await collectGarbage();
    expect(body.deref()).toBeUndefined();
    endOfLong(null);
  });
});
