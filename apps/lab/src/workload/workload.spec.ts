import { seededRandom } from '../../../simulator/src/random';
import { readPool, readScenario, scenarioNames } from '../scenario/read-file';
import { arrivalTimes } from './arrivals';
import { runOpenLoop } from './open-loop';
import { weighted, zipf } from './pick';
import { fullCalls, planCalls, type PlannedCall } from './plan';
import { QuestionPool } from './question-pool';

const salesDay = readScenario('sales-day');
const scale = { size: 0.02, time: 0.1, arms_at_once: 1 };
const shop = readPool('shop');
const poolOf = (products: number): QuestionPool => new QuestionPool(shop, products, salesDay);
const plan = (seed: number): PlannedCall[] => planCalls(salesDay, scale, poolOf(40), seed);

describe('the plan of a run', () => {
  it('is the same for the same seed and another for another', () => {
    expect(plan(1)).toEqual(plan(1));
    expect(plan(2)).not.toEqual(plan(1));
  });

  it('has as many calls as the curve says, in order and by class', () => {
    const calls = plan(1);
    const expected = fullCalls(salesDay) * scale.size * scale.time;
    expect(Math.abs(calls.length - expected)).toBeLessThan(5 * Math.sqrt(expected));
    expect(calls.map(({ ms }) => ms)).toEqual(calls.map(({ ms }) => ms).toSorted((a, b) => a - b));
    const critical = calls.filter(({ priority }) => priority === 'critical').length / calls.length;
    expect(critical).toBeGreaterThan(0.2);
    expect(critical).toBeLessThan(0.3);
  });

  it('fits every scenario that comes with the project', () => {
    for (const name of scenarioNames()) {
      const scenario = readScenario(name);
      const pool = new QuestionPool(readPool(scenario.pool), 20, scenario);
      expect(planCalls(scenario, { ...scenario.short, size: scenario.short.size / 10 }, pool, 1)).not.toHaveLength(0);
    }
  });
});

describe('arrivalTimes', () => {
  it('follows the lines of the curve', () => {
    const curve = [
      { ms: 0, perMs: 0 },
      { ms: 1000, perMs: 2 },
      { ms: 2000, perMs: 2 },
    ];
    const times = arrivalTimes(curve, seededRandom(3));
    const between = (from: number, to: number): number => times.filter(time => time >= from && time < to).length;
    // 250 expected, then 750, then 2 000.
    expect(Math.abs(between(0, 500) - 250)).toBeLessThan(80);
    expect(Math.abs(between(500, 1000) - 750)).toBeLessThan(140);
    expect(Math.abs(between(1000, 2000) - 2000)).toBeLessThan(230);
    expect(times.every(time => time >= 0 && time <= 2000)).toBe(true);
  });

  it('bears a rate that falls to nothing', () => {
    const times = arrivalTimes(
      [
        { ms: 0, perMs: 1 },
        { ms: 1000, perMs: 0 },
      ],
      seededRandom(1),
    );
    expect(times.every(time => time >= 0 && time <= 1000)).toBe(true);
    expect(times.filter(time => time < 500).length).toBeGreaterThan(times.filter(time => time >= 500).length);
  });
});

describe('picks', () => {
  const draw = (pick: (random: () => number) => number, times: number): number[] => {
    const random = seededRandom(5);
    return Array.from({ length: times }, () => pick(random));
  };

  it('draws the first twice as often as the second with exponent 1', () => {
    const drawn = draw(zipf(10, 1), 20_000);
    const count = (index: number): number => drawn.filter(value => value === index).length;
    expect(count(0) / count(1)).toBeGreaterThan(1.8);
    expect(count(0) / count(1)).toBeLessThan(2.2);
    expect(Math.max(...drawn)).toBe(9);
  });

  it('never draws what has no weight', () => {
    expect(new Set(draw(weighted([1, 0, 1]), 200))).toEqual(new Set([0, 2]));
  });
});

describe('QuestionPool', () => {
  it('gives every product a name of its own', () => {
    const texts = [...poolOf(400).common(1, 1, 1)].map(({ text }) => text);
    expect(new Set(texts).size).toBe(texts.length);
  });

  it('repeats what sells best', () => {
    const random = seededRandom(1);
    const pool = poolOf(40);
    const texts = Array.from({ length: 4000 }, () => pool.draw('page', random).text);
    expect(new Set(texts).size).toBeLessThan(500);
    expect(new Set(texts).size).toBeGreaterThan(50);
  });

  it('refuses kinds that it does not have', () => {
    expect(() => poolOf(1).draw('poem', seededRandom(1))).toThrow('poem');
  });
});

describe('runOpenLoop', () => {
  it('begins calls at their time, whether earlier ones have ended or not', async () => {
    const begun: number[] = [];
    let endAll = (): void => undefined;
    const ends = new Promise<void>(resolve => (endAll = resolve));
    const run = runOpenLoop([{ ms: 0 }, { ms: 20 }, { ms: 40 }], performance.now(), async item => {
      begun.push(item.ms);
      if (begun.length === 3) endAll();
      await ends;
    });
    await run;
    expect(begun).toEqual([0, 20, 40]);
  });

  it('tells the planned moment, even when it is late', async () => {
    const late = performance.now() - 500;
    const planned: number[] = [];
    await runOpenLoop([{ ms: 100 }], late, (_, at) => {
      planned.push(at);
      return Promise.resolve();
    });
    expect(planned).toEqual([late + 100]);
  });
});
