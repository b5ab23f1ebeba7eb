import { Logger } from '@spillway/telemetry';
import { ClockWatch } from './clock-watch';
import { observedLimits } from './rate-limits';

class CountingLog extends Logger {
  readonly warnings: object[] = [];
  debug(): void {}
  info(): void {}
  error(): void {}
  warn(fields: object): void {
    this.warnings.push(fields);
  }
}

const NOW = Date.parse('2026-11-29T12:00:00Z');

describe('ClockWatch', () => {
  let now: number;
  let log: CountingLog;
  let watch: ClockWatch;
  /** An answer of a provider whose clock is ahead of ours. */
  const answer = (provider: string, aheadMs: number): void => {
    now += 10_000;
    watch.note(provider, new Map([['date', new Date(now + aheadMs).toUTCString()]]));
  };

  beforeEach(() => {
    now = NOW;
    log = new CountingLog();
    watch = new ClockWatch({ now: () => now }, log);
  });

  it('reports a difference of more than 30 s once, and again after it was gone', () => {
    answer('p', -45_000);
    answer('p', -45_000);
    answer('q', 29_000);
    expect(log.warnings).toEqual([{ provider: 'p', skew_ms: -45_000 }]);
    expect(watch.skews()).toEqual({ p: -45_000 });
    answer('p', 1000);
    expect(watch.skews()).toEqual({});
    answer('p', 60_000);
    expect(log.warnings).toHaveLength(2);
  });

  it('makes nothing of answers without a date, or with one that is none', () => {
    watch.note('p', new Map());
    now += 10_000;
    watch.note('p', new Map([['date', 'yesterday']]));
    expect([log.warnings, watch.skews()]).toEqual([[], {}]);
  });
});

describe('observedLimits', () => {
  it('counts times of day from the clock of a provider that has another time', () => {
    const headers = new Map([
      ['date', new Date(NOW + 120_000).toUTCString()],
      ['anthropic-ratelimit-requests-remaining', '3'],
      ['anthropic-ratelimit-requests-reset', '2026-11-29T12:02:30Z'],
    ]);
    expect(observedLimits(headers, NOW)).toEqual({ requests: { remaining: 3, resetMs: 30_000 } });
  });

  it('is null where there are none', () => {
    expect(observedLimits(new Map([['retry-after', '3']]), NOW)).toBeNull();
    expect(observedLimits(new Map([['x-ratelimit-remaining-requests', 'many']]), NOW)).toBeNull();
  });
});
