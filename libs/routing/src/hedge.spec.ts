import type { ModelSettings } from '@spillway/contracts';
import { callOf } from '../../../test/support/turns';
import { chooseSecond, HedgeShare, mayHedge, type Delay } from './hedge';

const model = (name: string): ModelSettings => ({ name }) as ModelSettings;
const hedge = { max_share: 0.1, after_ms: 200 };

describe('a second model', () => {
  const call = (changes: object = {}) => {
    const { route, ...rest } = callOf('critical');
    return { ...rest, route: { ...route, hedge }, ...changes };
  };

  it('may be asked for a CRITICAL chat of a route that wants it, once', () => {
    expect(mayHedge(call())).toBe(true);
    expect(mayHedge(call({ streaming: true }))).toBe(true);
    expect(mayHedge(call({ priority: 'normal' }))).toBe(false);
    expect(mayHedge(call({ priority: 'low' }))).toBe(false);
    expect(mayHedge(call({ operation: 'embeddings' }))).toBe(false);
    expect(mayHedge(call({ route: callOf('critical').route }))).toBe(false);
    const asked = call();
    asked.journal.hedge = 'no-permit';
    expect(mayHedge(asked)).toBe(false);
  });

  const delay = (changes: Partial<Delay> = {}): Delay => ({
    isHighLoad: false,
    others: [model('second'), model('third')],
    isWell: () => true,
    takeShare: () => true,
    ...changes,
  });

  it('is the next of the chain that is well', () => {
    expect(chooseSecond(delay())).toEqual({ kind: 'second', model: model('second') });
    const isWell = ({ name }: ModelSettings): boolean => name === 'third';
    expect(chooseSecond(delay({ isWell }))).toEqual({ kind: 'second', model: model('third') });
  });

  it('is not asked where that could make an outage worse, and then takes nothing of the share', () => {
    const takeShare = jest.fn(() => true);
    const refusals: readonly (readonly [Partial<Delay>, string])[] = [
      [{ isHighLoad: true }, 'high-load'],
      [{ isWell: () => false }, 'not-well'],
      [{ others: [] }, 'not-well'],
    ];
    for (const [changes, why] of refusals) {
      expect(chooseSecond(delay({ takeShare, ...changes }))).toEqual({ kind: 'none', why });
    }
    expect(takeShare).not.toHaveBeenCalled();
    expect(chooseSecond(delay({ takeShare: () => false }))).toEqual({ kind: 'none', why: 'over-share' });
  });
});

describe('the share of calls that ask a second model', () => {
  const taken = (share: HedgeShare): number => {
    let count = 0;
    while (share.take()) count += 1;
    return count;
  };

  it('is kept from the first call on', () => {
    const share = new HedgeShare();
    let hedges = 0;
    for (let calls = 1; calls <= 1_000; calls++) {
      share.count(0.1);
      if (share.take()) hedges += 1;
      expect(hedges).toBeLessThanOrEqual(calls / 10 + 1e-6);
    }
    expect(hedges).toBe(100);
  });

  it('does not pile up: after any number of quick calls five may follow each other', () => {
    const share = new HedgeShare();
    for (let calls = 0; calls < 10_000; calls++) share.count(0.1);
    expect(taken(share)).toBe(5);
  });

  it('gets back what was not used', () => {
    const share = new HedgeShare();
    share.count(1);
    expect(share.take()).toBe(true);
    share.giveBack();
    expect(taken(share)).toBe(1);
  });
});
