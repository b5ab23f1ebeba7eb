import { ADAPTIVE } from './adaptive-settings';
import { LatencyWindow } from './latency-window';
import { freshState, nextLimit, type AdaptiveState } from './next-limit';

interface Second {
  readonly limit: number;
  readonly slowness: number;
}

/** A server that works on `capacity` calls at once; what is more makes all of them slower. Seeded. */
class SimulatedServer {
  capacity: number;
  baseMs: number;
  /** How many times longer its answers are than at first. */
  size = 1;
  private state: AdaptiveState = freshState(0);
  private window = new LatencyWindow();
  private now = 0;
  private seed = 7;
  /** A call that ends now began under the load of before. */
  private before = 0;

  constructor({ capacity, baseMs }: { capacity: number; baseMs: number }) {
    this.capacity = capacity;
    this.baseMs = baseMs;
  }

  get limit(): number | null {
    return this.state.reach.kind === 'open' ? null : Math.floor(this.state.reach.limit);
  }

  /** Lets callers want `demand` calls at the same time for so many seconds. */
  run(seconds: number, demand: number): Second[] {
    return Array.from({ length: seconds }, () => this.second(demand));
  }

  private second(demand: number): Second {
    this.now += 1_000;
    const inflight = Math.floor(Math.min(demand, this.limit ?? Infinity));
    const slowness = Math.max(1, (inflight + this.before) / 2 / this.capacity);
    this.before = inflight;
    const ms = this.baseMs * this.size * slowness;
    for (let call = 0; call < Math.max(1, (inflight * 1_000) / ms); call++) {
      const noise = 0.7 + 0.6 * this.random();
      this.window.addCall(`chat${5 + Math.log2(this.size)}`, ms * noise);
    }
    this.window.addInflight(inflight);
    const next = nextLimit(this.state, this.window.sample(this.now), ADAPTIVE);
    if (next !== this.state) this.window = new LatencyWindow();
    this.state = next;
    return { limit: this.limit ?? Infinity, slowness };
  }

  private random(): number {
    this.seed = (this.seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return this.seed / 2_147_483_648;
  }
}

describe('a server that is offered too much', () => {
  it.each([4, 10, 20, 50, 200])('with room for %i calls gets about as many, at about its own latency', capacity => {
    const server = new SimulatedServer({ capacity, baseMs: 800 });
    server.run(60, capacity / 2);
    expect(server.limit).toBeNull();
    server.run(60, capacity * 4);
    const settled = server.run(600, capacity * 4);
    for (const { limit } of settled) {
      expect(limit).toBeGreaterThanOrEqual(Math.floor(0.7 * capacity));
      expect(limit).toBeLessThanOrEqual(Math.max(1.3 * capacity, capacity + 2));
    }
    const mean = (of: (second: { limit: number; slowness: number }) => number): number =>
      settled.reduce((sum, second) => sum + of(second), 0) / settled.length;
    expect(mean(({ limit }) => limit)).toBeGreaterThan(0.9 * capacity);
    expect(mean(({ limit }) => limit)).toBeLessThan(Math.max(1.3 * capacity, capacity + 1.5));
    expect(mean(({ slowness }) => slowness)).toBeLessThan(1.4);
  });

  it('is given more again when it can do more, and less when it can do less', () => {
    const server = new SimulatedServer({ capacity: 20, baseMs: 800 });
    server.run(60, 10);
    server.run(120, 100);
    server.capacity = 60;
    server.run(60, 100);
    expect(server.limit).toBeGreaterThan(0.7 * 60);
    server.capacity = 15;
    server.run(60, 100);
    expect(server.limit).toBeLessThan(1.4 * 15);
    expect(server.limit).toBeGreaterThan(0.7 * 15);
  });

  it('is not limited for being slow for a reason of its own', () => {
    const server = new SimulatedServer({ capacity: 100, baseMs: 500 });
    server.run(60, 60);
    server.baseMs = 1_500;
    server.run(180, 60);
    expect(server.limit ?? Infinity).toBeGreaterThan(60);
  });

  it('is not limited for long answers', () => {
    const server = new SimulatedServer({ capacity: 100, baseMs: 500 });
    server.run(60, 60);
    server.size = 8;
    server.run(60, 60);
    expect(server.limit).toBeNull();
  });
});
