import fc from 'fast-check';
import { Ring } from './ring';

const shape = { width: 250, ages: [241, 481], lanes: 2 };
const START = 1_800_000_000_000;

describe('Ring', () => {
  it('never counts less than a window holds, and little more', () => {
    const step = fc.record({ wait: fc.oneof(fc.nat(500), fc.nat(70_000)), amount: fc.integer({ min: 1, max: 9 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), steps => {
        const ring = new Ring(shape);
        const log: { at: number; amount: number }[] = [];
        const held = (now: number, span: number): number =>
          log.reduce((sum, entry) => (entry.at > now - span ? sum + entry.amount : sum), 0);
        let now = START;
        for (const { wait, amount } of steps) {
          now += wait;
          ring.advance(now);
          ring.add(1, amount);
          log.push({ at: now, amount });
          shape.ages.forEach((age, window) => {
            const counted = ring.sums[window]?.[1] ?? 0;
            expect(counted).toBeGreaterThanOrEqual(held(now, age * shape.width));
            expect(counted).toBeLessThanOrEqual(held(now, (age + 1) * shape.width));
            expect(ring.sums[window]?.[0]).toBe(0);
          });
        }
      }),
    );
  });

  it('corrects an earlier bucket while it counts, and leaves it alone after that', () => {
    const ring = new Ring(shape);
    ring.advance(START);
    ring.add(0, 10);
    const booked = ring.at;
    ring.advance(START + 30_000);
    ring.add(0, -4, booked);
    expect(ring.sums.map(sums => sums[0])).toEqual([6, 6]);
    ring.advance(START + 70_000);
    expect(ring.sums.map(sums => sums[0])).toEqual([0, 6]);
    ring.add(0, -6, booked);
    expect(ring.sums.map(sums => sums[0])).toEqual([0, 0]);
    ring.advance(START + 200_000);
    ring.add(0, -6, booked);
    expect(ring.sums.map(sums => sums[0])).toEqual([0, 0]);
  });

  it('finds the first moment at which enough has left', () => {
    const ring = new Ring(shape);
    for (const [at, amount] of [
      [0, 3],
      [10_000, 2],
      [20_000, 5],
    ] as const) {
      ring.advance(START + at);
      ring.add(0, amount);
    }
    const fits = (limit: number): number | null => ring.whenFits(0, sums => (sums[0] ?? 0) <= limit);
    expect(fits(7)).toBe(START + 242 * 250);
    expect(fits(6)).toBe(START + 10_000 + 242 * 250);
    expect(fits(0)).toBe(START + 20_000 + 242 * 250);
    expect(fits(-1)).toBeNull();
  });
});
