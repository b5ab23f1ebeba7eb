import type { AdaptiveSettings } from './adaptive-settings';

/** Calls of one kind and size: how many, and their geometric mean, which a single slow one hardly moves. */
export interface Latency {
  readonly calls: number;
  readonly ms: number;
}

/** By kind and size; see `latencyOf`. */
export type Latencies = Readonly<Record<string, Latency>>;

/**
 * How much slower calls were than calls of their own kind and size usually are, so that long answers do not look like a
 * slow model. Null: none of them has a baseline.
 */
export function slownessOf(seen: Latencies, baselines: Latencies, settings: AdaptiveSettings): number | null {
  const floored = (ms: number): number => Math.max(ms, settings.floorMs);
  let [calls, logs] = [0, 0];
  for (const [size, latency] of Object.entries(seen)) {
    const usual = baselines[size];
    if (usual === undefined) continue;
    calls += latency.calls;
    logs += latency.calls * Math.log(floored(latency.ms) / floored(usual.ms));
  }
  return calls === 0 ? null : Math.exp(logs / calls);
}

/** The baselines after `elapsedMs` in which `seen` was seen; `mayRise` unless it is a limit that is being tested. */
export function learned(
  baselines: Latencies,
  seen: Latencies,
  slowness: number,
  { elapsedMs, mayRise }: { readonly elapsedMs: number; readonly mayRise: boolean },
  settings: AdaptiveSettings,
): Latencies {
  const next: Record<string, Latency> = { ...baselines };
  for (const [size, latency] of Object.entries(seen)) {
    const usual = baselines[size];
    if (usual === undefined) {
      next[size] = { calls: latency.calls, ms: latency.ms / slowness };
      continue;
    }
    const rises = latency.ms > usual.ms;
    if (rises && !mayRise) continue;
    const calls = Math.min(usual.calls + latency.calls, settings.baselineCalls);
    const weight =
      usual.calls < settings.baselineCalls
        ? latency.calls / (usual.calls + latency.calls)
        : Math.min(1, elapsedMs / (rises ? settings.riseMs : settings.fallMs));
    next[size] = { calls, ms: usual.ms * (latency.ms / usual.ms) ** weight };
  }
  return next;
}

/** The baselines of a model that is so much slower for a reason of its own. */
export function scaled(baselines: Latencies, slowness: number): Latencies {
  return Object.fromEntries(
    Object.entries(baselines).map(([size, { calls, ms }]) => [size, { calls, ms: ms * slowness }]),
  );
}

export function callsIn(latencies: Latencies): number {
  return Object.values(latencies).reduce((sum, { calls }) => sum + calls, 0);
}

/** The geometric mean over all sizes, ms; 0 without calls. */
export function meanOf(latencies: Latencies): number {
  const calls = callsIn(latencies);
  const logs = Object.values(latencies).reduce((sum, one) => sum + one.calls * Math.log(one.ms), 0);
  return calls === 0 ? 0 : Math.exp(logs / calls);
}
