import type { JsonObject } from '@spillway/contracts';
import { TokenEstimator, type EstimatedCall } from './token-estimator';

const model = { metric_label: 'm-primary' };

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
    estimator.learn(asked, model, { input: 2 * uncorrected, output: 40 }, estimator.reserve(asked, model));
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
  for (const output of [10, 10, 10, 900]) estimator.learn(question('Hi'), model, { input: 8, output }, 520);
  expect(estimator.errorOf(model)?.exceeded).toBe(0.25);
});

it('corrects every model by itself', () => {
  const estimator = new TokenEstimator();
  const asked = question('Where is my parcel?', { max_tokens: 1 });
  const before = estimator.reserve(asked, model);
  for (let index = 0; index < 50; index++) estimator.learn(asked, model, { input: 50, output: 1 }, before);
  expect(estimator.reserve(asked, model)).toBeGreaterThan(40);
  expect(estimator.reserve(asked, { metric_label: 'm-other' })).toBe(before);
});

it('learns nothing from a report without tokens', () => {
  const estimator = new TokenEstimator();
  const asked = question('Where is my parcel?');
  const before = estimator.reserve(asked, model);
  for (let index = 0; index < 50; index++) {
    estimator.learn(asked, model, { input: 0, output: 0 }, before);
    estimator.learn(asked, model, { input: NaN, output: NaN }, before);
  }
  expect(estimator.reserve(asked, model)).toBe(before);
  expect(estimator.errorOf(model)).toBeNull();
});
