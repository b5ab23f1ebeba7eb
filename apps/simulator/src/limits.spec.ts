import { Clock } from '@spillway/contracts';
import { ModelLimits, type Admission } from './limits';
import { DEFAULT_MODEL, type ModelPatch } from './settings';
import { withPatch } from './settings-patch';

class ManualClock extends Clock {
  time = 1_000_000;
  now(): number {
    return this.time;
  }
}

function setUp(patch: ModelPatch): { clock: ManualClock; limits: ModelLimits } {
  const clock = new ManualClock();
  return { clock, limits: new ModelLimits(withPatch(DEFAULT_MODEL, patch), clock) };
}

const reasonOf = (admission: Admission): string => (admission.admitted ? 'admitted' : admission.reason);

describe('ModelLimits', () => {
  it('never lets more than rpm calls into any 60 s, and lets the whole rpm in at once after a rest', () => {
    const { clock, limits } = setUp({ limits: { rpm: 10 } });
    const admitted: number[] = [];
    for (let step = 0; step < 4000; step += 1) {
      clock.time += 37;
      if (limits.admit(1).admitted) admitted.push(clock.time);
    }
    for (const end of admitted)
      expect(admitted.filter(at => at > end - 60_000 && at <= end).length).toBeLessThanOrEqual(10);
    expect(admitted).toHaveLength(30);

    clock.time += 60_000;
    expect(Array.from({ length: 11 }, () => limits.admit(1).admitted).filter(Boolean)).toHaveLength(10);
  });

  it('counts tokens by the minute and by the day', () => {
    const { clock, limits } = setUp({ limits: { tpm: 100, tpd: 250 } });
    expect(reasonOf(limits.admit(60))).toBe('admitted');
    expect(reasonOf(limits.admit(41))).toBe('tpm');
    expect(reasonOf(limits.admit(40))).toBe('admitted');
    clock.time += 60_000;
    expect(reasonOf(limits.admit(100))).toBe('admitted');
    clock.time += 60_000;
    expect(reasonOf(limits.admit(51))).toBe('tpd');
    clock.time += 86_400_000;
    expect(reasonOf(limits.admit(51))).toBe('admitted');
  });

  it('tells when the refused call would fit, and never for one that is larger than the limit', () => {
    const { clock, limits } = setUp({ limits: { tpm: 100 } });
    limits.admit(60);
    clock.time += 10_000;
    limits.admit(40);
    expect(limits.admit(50)).toEqual({ admitted: false, reason: 'tpm', limit: 100, retryAfterMs: 50_000 });
    expect(limits.admit(101)).toMatchObject({ retryAfterMs: null });
    clock.time += 50_000;
    expect(limits.admit(50).admitted).toBe(true);
  });

  it('holds a slot in flight until it is released', () => {
    const { limits } = setUp({ limits: { inflight: 2 } });
    limits.admit(1);
    limits.admit(1);
    expect(reasonOf(limits.admit(1))).toBe('inflight');
    limits.release();
    expect(reasonOf(limits.admit(1))).toBe('admitted');
    expect(limits.peakInflight).toBe(2);
  });

  it('lets refused calls use up rpm only if told so', () => {
    const lenient = setUp({ limits: { rpm: 2 } });
    const strict = setUp({ limits: { rpm: 2 }, count_refused: true });
    for (const { clock, limits } of [lenient, strict]) {
      limits.admit(1);
      limits.admit(1);
      clock.time += 30_000;
      for (let call = 0; call < 5; call += 1) limits.admit(1);
      clock.time += 30_000;
    }
    expect(reasonOf(lenient.limits.admit(1))).toBe('admitted');
    expect(reasonOf(strict.limits.admit(1))).toBe('rpm');
  });

  it('compresses time by its windows', () => {
    const { clock, limits } = setUp({ limits: { rpm: 1, tpd: 10 }, window_s: 1, day_s: 2 });
    expect(reasonOf(limits.admit(6))).toBe('admitted');
    clock.time += 1000;
    expect(reasonOf(limits.admit(6))).toBe('tpd');
    clock.time += 1000;
    expect(reasonOf(limits.admit(6))).toBe('admitted');
  });

  it('keeps what is booked when a limit changes', () => {
    const { limits } = setUp({ limits: { rpm: 5 } });
    for (let call = 0; call < 3; call += 1) limits.admit(1);
    limits.reconfigure(withPatch(DEFAULT_MODEL, { limits: { rpm: 3 } }));
    expect(reasonOf(limits.admit(1))).toBe('rpm');
    expect(limits.inflight).toBe(3);
    expect(limits.calls()).toMatchObject({ limit: 3, remaining: 0 });
  });
});

describe('the growth limit', () => {
  const growth = { max_ratio: 0.2, per_s: 10, floor_rps: 5 };

  it('allows the floor at any time, and no more than a fifth over the period before', () => {
    const { clock, limits } = setUp({ limits: { growth } });
    const admittedPerPeriod = [0, 0, 0, 0].map(() => {
      let admitted = 0;
      // 20 calls a second, of which the limit takes what it likes.
      for (let call = 0; call < 200; call += 1) {
        clock.time += 50;
        if (limits.admit(1).admitted) admitted += 1;
      }
      return admitted;
    });
    expect(admittedPerPeriod[0]).toBe(50);
    for (const [index, admitted] of admittedPerPeriod.entries()) {
      const before = admittedPerPeriod[index - 1] ?? 50;
      expect(admitted).toBeLessThanOrEqual(Math.max(50, before * 1.2));
    }
  });

  it('lets a slow enough rise pass untouched', () => {
    const { clock, limits } = setUp({ limits: { growth } });
    let rate = 4;
    let refused = 0;
    // A rise of 1 % a second is less than a fifth in ten.
    for (const end = clock.time + 120_000; clock.time < end; rate *= 1.01 ** (1 / rate)) {
      clock.time += 1000 / rate;
      if (!limits.admit(1).admitted) refused += 1;
    }
    expect(rate).toBeGreaterThan(12);
    expect(refused).toBe(0);
  });

  it('limits the growth of tokens where it has a floor for them', () => {
    const { limits } = setUp({ limits: { growth: { ...growth, floor_tps: 10 } } });
    expect(reasonOf(limits.admit(100))).toBe('admitted');
    expect(reasonOf(limits.admit(1))).toBe('growth');
  });
});
