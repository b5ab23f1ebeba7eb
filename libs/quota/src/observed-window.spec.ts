import fc from 'fast-check';
import { ObservedWindow, type Witness } from './observed-window';

const NOW = 1_800_000_000_000;
const witness = (call: number, sent: number, known = 0): Witness => ({ call, sent, known, amount: 1 });
const room = (window: ObservedWindow, time: number): number => {
  for (let count = 0; count < 1000; count++) if (window.refusedUntil(count + 1, time) !== null) return count;
  return Infinity;
};

describe('ObservedWindow', () => {
  let window: ObservedWindow;
  beforeEach(() => {
    window = new ObservedWindow();
    for (let at = 0; at < 5; at++) window.take(1);
  });

  it('lets pass what remained, less what has gone out since, until the reset', () => {
    window.observe({ remaining: 10, resetMs: 1000 }, witness(3, 3), 0, NOW);
    expect(room(window, NOW)).toBe(8);
    window.take(1);
    expect(room(window, NOW)).toBe(7);
    expect(room(window, NOW + 1000)).toBe(Infinity);
  });

  it('lets nothing pass until the reset where nothing remained', () => {
    window.observe({ remaining: 0, resetMs: 1000 }, witness(5, 5), 0, NOW);
    expect(window.refusedUntil(1, NOW + 999)).toBe(NOW + 1000);
    expect(window.refusedUntil(1, NOW + 1000)).toBeNull();
  });

  it('follows what calls after the one that was told really used, and no others', () => {
    window.observe({ remaining: 10, resetMs: 1000 }, witness(5, 5), 0, NOW);
    for (const call of [4, 5]) window.correct(call, 3);
    expect(room(window, NOW)).toBe(10);
    window.correct(6, 3);
    expect(room(window, NOW)).toBe(7);
  });

  it('believes the newest call, in whatever order answers come', () => {
    window.observe({ remaining: 50, resetMs: 1000 }, witness(5, 5), 0, NOW);
    window.observe({ remaining: 0, resetMs: 1000 }, witness(4, 4), 0, NOW);
    expect(room(window, NOW)).toBe(50);
    window.observe({ remaining: 0, resetMs: 100 }, witness(4, 4), 0, NOW + 1000);
    expect(room(window, NOW + 1000)).toBe(0);
  });

  it.each([
    ['nothing', {}],
    ['no reset', { limit: 10, remaining: 0 }],
    ['nothing that remains', { limit: 10, resetMs: 1000 }],
    ['a reset that is over', { remaining: 0, resetMs: 0 }],
    ['a reset after more than a day', { remaining: 0, resetMs: 86_400_001 }],
  ])('is not changed by %s', (_, bucket) => {
    window.observe(bucket, witness(5, 5), 0, NOW);
    expect([room(window, NOW), window.limit(0, NOW), window.use(NOW)]).toEqual([Infinity, 0, null]);
  });

  it('lowers a configured limit for the window, and never raises one', () => {
    window.observe({ limit: 60, resetMs: 1000 }, witness(5, 5), 100, NOW);
    expect([window.limit(100, NOW), window.limit(100, NOW + 1000)]).toEqual([60, 100]);
    window.observe({ limit: 600, resetMs: 1000 }, witness(5, 5), 100, NOW);
    expect(window.limit(100, NOW)).toBe(100);
    window.observe({ limit: 60 }, witness(5, 5), 100, NOW);
    expect([window.limit(100, NOW + 59_999), window.limit(100, NOW + 60_000)]).toEqual([60, 100]);
  });

  it('leaves it to our own window where that knew of all the provider had counted', () => {
    window.observe({ limit: 600, remaining: 2, resetMs: 60_000 }, witness(5, 5, 595), 590, NOW);
    expect(room(window, NOW)).toBe(Infinity);
    window.observe({ limit: 600, remaining: 2, resetMs: 60_000 }, witness(5, 5, 300), 590, NOW);
    expect(room(window, NOW)).toBe(2);
  });

  it('takes corrections of calls that went out later only', () => {
    window.observe({ remaining: 100, resetMs: 1000 }, witness(5, 5), 0, NOW);
    window.take(40);
    window.correct(6, -30);
    window.correct(4, -30);
    expect(room(window, NOW)).toBe(90);
  });

  it('is what a list of all calls and answers says', () => {
    const step = fc.record({
      ms: fc.nat(300),
      kind: fc.constantFrom('call', 'call', 'answer'),
      pick: fc.nat(),
      remaining: fc.nat(20),
      resetMs: fc.nat(1500),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), steps => {
        const tested = new ObservedWindow();
        const sentOf: number[] = [];
        let told: { call: number; remaining: number; till: number } | null = null;
        let time = NOW;
        for (const { ms, kind, pick, remaining, resetMs } of steps) {
          time += ms;
          if (kind === 'call') {
            tested.take(1);
            sentOf.push(tested.sent);
          } else if (sentOf.length > 0) {
            const call = (pick % sentOf.length) + 1;
            tested.observe({ remaining, resetMs }, witness(call, sentOf[call - 1] ?? 0), 0, time);
            const older = told !== null && time < told.till && call < told.call;
            if (!older && resetMs > 0) told = { call, remaining, till: time + resetMs };
          }
          const expected =
            told === null || time >= told.till ? Infinity : Math.max(0, told.remaining - (sentOf.length - told.call));
          expect(room(tested, time)).toBe(expected);
        }
      }),
    );
  });
});
