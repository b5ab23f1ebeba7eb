import type { Scenario } from '../scenario/schema';
import type { Sample } from './samples';

type Limits = Scenario['models'][string]['limits'];

/** How much of what may be used was used at one moment, and what bound. */
export interface QuotaUse {
  readonly ms: number;
  /** Share of the limit that binds; null where nothing is limited. */
  readonly share: number | null;
  readonly binds: 'rpm' | 'tpm' | 'growth' | null;
  /** Whether CRITICAL or NORMAL calls were waiting, now and at the look before: a call that passes by does not wait. */
  readonly wanted: boolean;
}

/** What a model allows, and the share of it that is to be left alone. */
export interface Granted {
  readonly limits: Limits;
  readonly windowMs: number;
  readonly headroom: number;
}

/**
 * Use of one model's quota as the provider saw it: calls and tokens of the last window, and calls of the growth
 * period, each against what may be used of it. The first window counts
 * from nothing, as it does for the provider.
 */
export function quotaUse(samples: readonly Sample[], model: string, granted: Granted): QuotaUse[] {
  const { limits, headroom, windowMs } = granted;
  const accepted = curveOf(samples, model, 'accepted');
  const tokens = curveOf(samples, model, 'tokens');
  return samples.map((sample, index) => {
    const { ms } = sample;
    const within = (curve: Curve, span: number, until = ms): number => curve(until) - curve(until - span);
    const uses: { binds: 'rpm' | 'tpm' | 'growth'; share: number }[] = [];
    if (limits.rpm > 0) uses.push({ binds: 'rpm', share: within(accepted, windowMs) / ((1 - headroom) * limits.rpm) });
    if (limits.tpm > 0) uses.push({ binds: 'tpm', share: within(tokens, windowMs) / ((1 - headroom) * limits.tpm) });
    if (limits.growth !== null) {
      const { per_s, floor_rps, max_ratio } = limits.growth;
      const period = per_s * 1000;
      const allowed = Math.max(floor_rps * per_s, (1 + max_ratio) * within(accepted, period, ms - period));
      // There is no part of a call.
      uses.push({ binds: 'growth', share: within(accepted, period) / Math.max(1, Math.floor(allowed + 1e-9)) });
    }
    const most = uses.reduce<(typeof uses)[number] | null>((a, b) => (a !== null && a.share >= b.share ? a : b), null);
    return {
      ms,
      share: most?.share ?? null,
      binds: most?.binds ?? null,
      wanted: isWanted(sample) && isWanted(samples[index - 1]),
    };
  });
}

/** With Spillway its queues say who waits; else whoever has called and is not with the provider. */
function isWanted(sample: Sample | undefined): boolean {
  if (sample === undefined) return false;
  const { queued, open, provider } = sample;
  if (queued !== null) return queued.critical + queued.normal > 0;
  const inside = Object.values(provider).reduce((sum, { inflight }) => sum + inflight, 0);
  return open.critical + open.normal - inside > 0;
}

type Curve = (ms: number) => number;

/** A count over time, by straight lines between the samples. */
function curveOf(samples: readonly Sample[], model: string, what: 'accepted' | 'tokens'): Curve {
  const points = samples.map(({ ms, provider }) => ({ ms, value: provider[model]?.[what] ?? 0 }));
  return ms => {
    const next = points.findIndex(point => point.ms >= ms);
    const [before, after] = next < 0 ? [points.at(-1), undefined] : [points[next - 1], points[next]];
    if (after === undefined) return before?.value ?? 0;
    const from = before ?? { ms: 0, value: 0 };
    if (after.ms <= from.ms || ms <= from.ms) return ms < 0 ? 0 : from.value;
    return from.value + ((after.value - from.value) * (ms - from.ms)) / (after.ms - from.ms);
  };
}
