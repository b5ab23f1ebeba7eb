import { BREAKER } from '../../../test/support/breaker';
import { afterCall, errorRate, GOOD_CALLS, isProbeDue, withProbe } from './breaker';
import { adaptiveThreshold, freshRecord, type ModelRecord } from './model-record';
import type { Finding, Outcome } from './outcome';

const START = 1_800_000_000_000;
const GOOD: Finding = { kind: 'counted', weight: 0 };
const BAD: Finding = { kind: 'counted', weight: 1 };
const UNTOLD: Finding = { kind: 'untold' };
const OUTRUN: Finding = { kind: 'outrun' };
const AUTH: Finding = { kind: 'barred', why: 'auth' };

/** One model under one clock, with calls that take no time unless they say so. */
class Patient {
  record: ModelRecord = freshRecord(START);
  now = START;

  get state(): ModelRecord['state'] {
    return this.record.state;
  }

  call(finding: Finding, more: Partial<Outcome> = {}): this {
    const usual = { startedAt: this.now, at: this.now, operation: 'chat', retryAfterMs: null, latency: null } as const;
    this.record = afterCall(this.record, { ...usual, finding, ...more }, BREAKER);
    return this;
  }

  calls(count: number, finding: Finding, everyMs = 10, more: Partial<Outcome> = {}): this {
    for (let made = 0; made < count; made++) this.wait(everyMs).call(finding, more);
    return this;
  }

  wait(ms: number): this {
    this.now += ms;
    return this;
  }

  probe(longestMs = 5_000): boolean {
    const next = withProbe(this.record, this.now, longestMs);
    if (next !== null) this.record = next;
    return next !== null;
  }

  /** Waits for its probe, and makes it. */
  probed(finding: Finding): this {
    if (this.state.kind === 'closed') throw new Error('closed');
    this.wait(Math.max(0, this.state.probeAt - this.now));
    if (!this.probe()) throw new Error('no probe is due');
    return this.call(finding);
  }
}

const open = (): Patient => new Patient().calls(BREAKER.consecutive_failures, BAD);

describe('a breaker that is closed', () => {
  it('refuses nothing while it is preheating, whatever the rate', () => {
    const patient = new Patient().calls(5, BAD).calls(1, GOOD).calls(5, BAD);
    expect(errorRate(patient.record, patient.now, BREAKER)).toBeCloseTo(10 / 11);
    expect(patient.state.kind).toBe('closed');
  });

  it('opens after failures in a row, also with few calls', () => {
    const patient = new Patient().calls(BREAKER.consecutive_failures - 1, BAD);
    expect(patient.state.kind).toBe('closed');
    expect(patient.call(BAD).state).toMatchObject({ kind: 'open', why: 'consecutive-failures', times: 0 });
  });

  it('degrades at 15 % and opens at 50 % of enough calls', () => {
    const patient = new Patient().calls(17, GOOD, 400).calls(2, BAD, 400).calls(1, GOOD, 400);
    expect(patient.state.kind).toBe('closed');
    expect(patient.calls(2, BAD, 400).state).toMatchObject({ kind: 'degraded', why: 'error-rate' });
    for (let count = 0; count < 6; count++) patient.calls(1, GOOD, 400).calls(4, BAD, 400);
    expect(patient.state).toMatchObject({ kind: 'open', why: 'error-rate' });
  });

  it('never counts what says nothing of the model', () => {
    const patient = new Patient().calls(100, UNTOLD);
    expect(patient.record).toEqual(freshRecord(START));
  });

  it('forgets failures that have left the window', () => {
    const patient = new Patient().calls(9, BAD).calls(1, GOOD).wait(61_000).calls(30, GOOD);
    expect(errorRate(patient.record, patient.now, BREAKER)).toBe(0);
    expect(patient.state.kind).toBe('closed');
  });

  it('degrades when the last seconds fall below the adaptive threshold, before the window does', () => {
    const patient = new Patient().calls(1_000, GOOD, 50).wait(5_000);
    for (let count = 0; count < 10; count++) patient.calls(2, GOOD, 10).calls(1, BAD, 10);
    expect(errorRate(patient.record, patient.now, BREAKER)).toBeLessThan(BREAKER.degraded_error_rate);
    expect(patient.state).toMatchObject({ kind: 'degraded', why: 'sudden-errors' });
  });

  it.each([
    ['quota', 60_000],
    ['auth', null],
    ['billing', null],
    ['unknown-model', null],
  ] as const)('opens at once for %s, for long, and no shorter than asked', (why, retryAfterMs) => {
    const { state, now } = new Patient().call({ kind: 'barred', why }, { retryAfterMs });
    expect(state).toMatchObject({ kind: 'open', why, probeAt: now + (retryAfterMs ?? BREAKER.open_max_s * 1000) });
  });
});

describe('the adaptive threshold', () => {
  it('is 0.8 for a model that has been good, and lower for one that has been worse, to 0.6 at most', () => {
    expect([1, 0.9, 0.5, 0].map(rate => Math.round(adaptiveThreshold(rate) * 1000) / 1000)).toEqual([
      0.8, 0.79, 0.75, 0.7,
    ]);
  });
});

describe('a breaker that is degraded', () => {
  const degraded = (): Patient => new Patient().calls(16, GOOD, 100).calls(4, BAD, 100);

  it('closes after five good calls, when the last seconds are good as well', () => {
    const patient = degraded();
    expect(patient.state.kind).toBe('degraded');
    patient.calls(GOOD_CALLS, GOOD);
    expect(patient.state.kind).toBe('degraded');
    patient.wait(6_000).calls(1, GOOD);
    expect(patient.state.kind).toBe('closed');
    expect(patient.record.window).toEqual([]);
  });

  it('begins anew to count good calls after a bad one', () => {
    const patient = degraded()
      .wait(6_000)
      .calls(GOOD_CALLS - 1, GOOD)
      .call(BAD);
    expect(patient.state).toMatchObject({ kind: 'degraded', good: 0 });
  });

  it('has a probe due when nobody has called it for a while', () => {
    const patient = degraded();
    expect(isProbeDue(patient.record, patient.now)).toBe(false);
    expect(isProbeDue(patient.record, patient.now + 1_000)).toBe(true);
  });
});

describe('a breaker that is open', () => {
  it('lets nobody probe before its time, then one at a time', () => {
    const patient = open();
    expect(patient.probe()).toBe(false);
    expect(patient.wait(1_000).probe(5_000)).toBe(true);
    expect(patient.state).toMatchObject({ kind: 'half-open', good: 0 });
    expect(patient.wait(4_999).probe()).toBe(false);
    expect(patient.wait(1).probe()).toBe(true);
  });

  it('stays open longer each time, up to the longest', () => {
    const patient = open();
    const rests = Array.from({ length: 7 }, () => {
      const { state } = patient.probed(BAD);
      return state.kind === 'open' ? state.probeAt - state.since : 0;
    });
    expect(rests).toEqual([2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  });

  it('closes after a probe and four more good calls, and is then measured afresh', () => {
    const patient = open().probed(GOOD);
    expect(patient.state).toMatchObject({ kind: 'half-open', good: 1 });
    patient.calls(GOOD_CALLS - 1, GOOD);
    expect(patient.state.kind).toBe('closed');
    expect(patient.calls(5, BAD).state.kind).toBe('closed');
  });

  it('opens again at a failure before that', () => {
    expect(open().probed(GOOD).calls(2, GOOD).call(BAD).state).toMatchObject({ kind: 'open', times: 1 });
  });

  it('never rests shorter than the provider asked, whoever asked first', () => {
    const patient = new Patient().calls(9, BAD).call(BAD, { retryAfterMs: 20_000 });
    expect(patient.state).toMatchObject({ probeAt: patient.now + 20_000 });
    const until = patient.now + 20_000;
    patient.call(BAD, { retryAfterMs: 5_000 });
    expect(patient.state).toMatchObject({ probeAt: until });
    patient.call(BAD, { retryAfterMs: 90_000_000 });
    expect(patient.state).toMatchObject({ probeAt: patient.now + 3_600_000 });
  });

  it('does not listen to calls that began before it opened, good or bad', () => {
    const patient = open();
    const startedAt = patient.now - 500;
    const before = patient.record;
    patient.wait(100).call(GOOD, { startedAt }).call(BAD, { startedAt });
    expect(patient.record).toEqual(before);
    patient.wait(900).probe();
    const probed = patient.record;
    patient.call(BAD, { startedAt }).call(GOOD, { startedAt });
    expect(patient.record).toEqual(probed);
  });

  it('gives the probe to the next when its caller has left', () => {
    const patient = open().probed(UNTOLD);
    expect(patient.state.kind).toBe('half-open');
    expect(patient.wait(200).probe()).toBe(true);
  });

  it('comes back when a call that found no better model was answered', () => {
    expect(open().wait(10).call(GOOD).state).toMatchObject({ kind: 'half-open', good: 1 });
  });

  it('becomes barred by a reason that only somebody can mend, and rests for long', () => {
    const { state, now } = open().wait(10).call(AUTH);
    expect(state).toMatchObject({ kind: 'open', why: 'auth', probeAt: now + 30_000 });
  });
});

describe('a model that has become slow', () => {
  const latency = (ms: number) => ({ latency: { size: 'chat5', ms } });

  it('degrades after half a window of it, before it fails', () => {
    const patient = new Patient().calls(100, GOOD, 100, latency(300)).calls(290, GOOD, 100, latency(1_500));
    expect(patient.state.kind).toBe('closed');
    expect(patient.calls(20, GOOD, 100, latency(1_500)).state).toMatchObject({ kind: 'degraded', why: 'slow' });
    expect(patient.calls(20, GOOD, 100, latency(1_500)).state).toMatchObject({ good: 0 });
    expect(patient.wait(6_000).calls(GOOD_CALLS, GOOD, 100, latency(300)).state.kind).toBe('closed');
  });

  it('does not for a few slow calls, nor for a short while', () => {
    const patient = new Patient().calls(100, GOOD, 100, latency(300));
    for (let count = 0; count < 20; count++)
      patient.calls(29, GOOD, 100, latency(300)).calls(1, GOOD, 100, latency(5_000));
    patient.calls(100, GOOD, 100, latency(1_500)).wait(6_000).calls(100, GOOD, 100, latency(300));
    expect(patient.state.kind).toBe('closed');
  });
});

describe('a call that was outrun by one of another model', () => {
  const foreseen = (ms: number) => ({ foreseen: { size: 'chat?5', ms } });

  it('is neither a failure nor an answer: it counts nowhere, and interrupts no row of failures', () => {
    const patient = new Patient().calls(100, OUTRUN, 10, foreseen(9_000));
    expect(patient.record).toMatchObject({ state: { kind: 'closed' }, window: [], slowSince: null });
    expect(patient.calls(9, BAD).call(OUTRUN).state.kind).toBe('closed');
    expect(patient.call(BAD).state.kind).toBe('open');
  });

  it('tells that the model took at least so long', () => {
    const patient = new Patient().calls(60, GOOD, 10, foreseen(300));
    const usual = patient.record.baselines['chat?5']?.[1] ?? 0;
    expect(patient.call(OUTRUN, foreseen(100)).record.baselines['chat?5']?.[1]).toBe(usual);
    expect(patient.call(OUTRUN, foreseen(400)).record.baselines['chat?5']?.[1]).toBeGreaterThan(usual);
    expect(patient.record.window).toEqual([[expect.any(Number), 60, 0, 0]]);
  });

  it('neither closes nor opens a model that is tried', () => {
    expect(open().probed(OUTRUN).state).toMatchObject({ kind: 'half-open', good: 0 });
  });
});

describe('a breaker at its bounds', () => {
  it('opens at the error rate that is configured, and not below it', () => {
    const mixed = (bad: number): Patient => {
      const patient = new Patient();
      for (let made = 0; made < 20; made++) patient.wait(1).call(made % 2 === 0 && made < 2 * bad ? BAD : GOOD);
      return patient;
    };
    expect(mixed(9).state.kind).toBe('degraded');
    expect(mixed(10).wait(1).call(BAD).state.kind).toBe('open');
    const exact = new Patient();
    for (let made = 0; made < 20; made++) exact.wait(1).call(made % 2 === 0 ? GOOD : BAD);
    expect(exact.state).toMatchObject({ kind: 'open', why: 'error-rate' });
  });

  it('takes half a failure for one where calls in a row decide', () => {
    const half: Finding = { kind: 'counted', weight: 0.5 };
    expect(new Patient().calls(BREAKER.consecutive_failures, half).state.kind).toBe('open');
    const less: Finding = { kind: 'counted', weight: 0.49 };
    expect(new Patient().calls(BREAKER.consecutive_failures, less).state.kind).toBe('closed');
  });

  it('rests for an hour at most, whatever its provider asks for', () => {
    const patient = new Patient().call(AUTH, { retryAfterMs: 100 * 3_600_000 });
    expect(patient.state).toMatchObject({ kind: 'open', probeAt: START + 3_600_000 });
  });

  it('is not opened afresh by what bars it already', () => {
    const patient = new Patient().call(AUTH);
    const { state } = patient;
    patient.wait(1_000).call(AUTH);
    expect(patient.state).toEqual(state);
  });

  it('does not recover by calls that had begun before it was degraded', () => {
    const patient = new Patient().calls(20, GOOD).calls(4, BAD);
    expect(patient.state.kind).toBe('degraded');
    patient.wait(30_000).calls(GOOD_CALLS + 5, GOOD, 10, { startedAt: START });
    expect(patient.state.kind).toBe('degraded');
    patient.calls(GOOD_CALLS + 5, GOOD, 10, { startedAt: patient.now });
    expect(patient.state.kind).toBe('closed');
  });
});
