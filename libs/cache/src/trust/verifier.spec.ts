import { Verifier } from './verifier';

/** Same where the first number outweighs the second; the third says nothing. */
function* examples(count: number): Generator<{ features: number[]; same: boolean }> {
  let state = 1;
  const random = (): number => (state = (state * 48271) % 2147483647) / 2147483647;
  for (let index = 0; index < count; index++) {
    const [one, other, noise] = [random(), random(), random()];
    yield { features: [1, one, other, noise], same: one > other };
  }
}

describe('the verifier', () => {
  it('believes nothing before it has learned', () => {
    expect(new Verifier().probability([1, 1, 0, 0])).toBe(0);
  });

  it('starts from what was believed, and learns on from there', () => {
    const verifier = new Verifier([0, 2, -2, 0]);
    expect(verifier.probability([1, 1, 0, 0])).toBeCloseTo(1 / (1 + Math.exp(-2)));
    for (let count = 0; count < 50; count++) verifier.learn([1, 1, 0, 0], false);
    expect(verifier.probability([1, 1, 0, 0])).toBeLessThan(0.1);
  });

  it('learns what tells equal questions from others, and how sure that is', () => {
    const verifier = new Verifier();
    for (const { features, same } of examples(2_000)) verifier.learn(features, same);
    expect(verifier.probability([1, 0.9, 0.1, 0.5])).toBeGreaterThan(0.95);
    expect(verifier.probability([1, 0.1, 0.9, 0.5])).toBeLessThan(0.05);
    expect(Math.abs(verifier.probability([1, 0.5, 0.5, 0.9]) - 0.5)).toBeLessThan(0.2);
  });

  it('comes to the same from the same judgements in every process', () => {
    const [one, other] = [new Verifier(), new Verifier()];
    for (const verifier of [one, other]) for (const { features, same } of examples(300)) verifier.learn(features, same);
    expect(one.probability([1, 0.6, 0.4, 0.1])).toBe(other.probability([1, 0.6, 0.4, 0.1]));
  });

  it('follows when what it learned no longer holds', () => {
    const verifier = new Verifier();
    for (const { features } of examples(200)) verifier.learn(features, true);
    for (const { features } of examples(2_000)) verifier.learn(features, false);
    expect(verifier.probability([1, 0.9, 0.1, 0.5])).toBeLessThan(0.2);
  });
});
