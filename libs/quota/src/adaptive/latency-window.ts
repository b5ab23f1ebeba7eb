import type { AdaptiveSample } from './next-limit';
import type { Latency } from './baselines';

/** What this process saw of a model since the limit last moved. */
export class LatencyWindow {
  private readonly sums = new Map<string, { calls: number; logs: number }>();
  private drops = 0;
  private inflight = 0;

  get empty(): boolean {
    return this.sums.size === 0 && this.drops === 0;
  }

  addCall(size: string, ms: number): void {
    const sum = this.sums.get(size) ?? { calls: 0, logs: 0 };
    sum.calls += 1;
    sum.logs += Math.log(Math.max(ms, 1));
    this.sums.set(size, sum);
  }

  addDrop(): void {
    this.drops += 1;
  }

  addInflight(calls: number): void {
    this.inflight = Math.max(this.inflight, calls);
  }

  sample(at: number): AdaptiveSample {
    const latencies: Record<string, Latency> = {};
    for (const [size, { calls, logs }] of this.sums) latencies[size] = { calls, ms: Math.exp(logs / calls) };
    return { at, latencies, drops: this.drops, inflight: this.inflight };
  }
}
