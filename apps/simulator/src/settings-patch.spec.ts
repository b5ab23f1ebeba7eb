import { DEFAULT_MODEL } from './settings';
import { InvalidSettings, withPatch } from './settings-patch';

const problemsOf = (patch: unknown): readonly string[] => {
  try {
    withPatch(DEFAULT_MODEL, patch);
    return [];
  } catch (error) {
    return error instanceof InvalidSettings ? error.problems : [String(error)];
  }
};

describe('withPatch', () => {
  it('merges objects and replaces lists, spreads and growth', () => {
    const first = withPatch(DEFAULT_MODEL, { limits: { rpm: 5 }, answer: { tokens: { min: 1, max: 9 } } });
    const second = withPatch(first, {
      limits: { tpm: 7, growth: { max_ratio: 0.2, per_s: 180, floor_rps: 5 } },
      faults: [{ kind: 'hang' }],
      answer: { tokens: 3 },
    });
    expect(second.limits).toMatchObject({ rpm: 5, tpm: 7, growth: { per_s: 180 } });
    expect(second.answer).toMatchObject({ mode: 'echo', tokens: 3 });
    expect(second.faults).toEqual([{ kind: 'hang' }]);
    expect(withPatch(second, { limits: { growth: null } }).limits).toMatchObject({ rpm: 5, growth: null });
    expect(DEFAULT_MODEL.limits.rpm).toBe(0);
  });

  it('names every problem by its path', () => {
    expect(
      problemsOf({
        limits: { rpm: -1, qps: 3 },
        latency: { jitter: 2 },
        family: 'acme',
        faults: [{ kind: 'hang', typo: 1 }],
        answer: 'echo',
        colour: 'red',
      }),
    ).toEqual([
      'limits.rpm: is not valid',
      'limits.qps: is not known',
      'latency.jitter: is not valid',
      'family: is not valid',
      'faults: is not valid',
      'answer: must be an object',
      'colour: is not known',
    ]);
    expect(problemsOf([])).toEqual(['settings: must be an object']);
    expect(problemsOf(JSON.parse('{"__proto__":{"rpm":1}}'))).toEqual(['__proto__: is not known']);
  });
});
