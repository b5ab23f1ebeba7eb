import { BREAKER } from '../../../test/support/breaker';
import { ManualClock } from '../../../test/support/manual-clock';
import { MemoryHealthStore, type Exchanged, type Move } from './health-store';
import { ModelHealth } from './model-health';
import type { Outcome } from './outcome';

class CountingStore extends MemoryHealthStore {
  exchanges = 0;

  override exchange(moves: readonly Move[]): Promise<Exchanged> {
    this.exchanges += 1;
    return super.exchange(moves);
  }
}

describe('the health of models that a reload takes out of the configuration', () => {
  const clock = new ManualClock();
  const configured = new Set<string>();
  let store: CountingStore;
  let health: ModelHealth;

  beforeEach(() => {
    configured.add('m').add('n');
    store = new CountingStore(clock);
    health = new ModelHealth(store, { breakerOf: name => (configured.has(name) ? BREAKER : undefined) }, clock);
  });

  const report = (model: string): void => {
    const at = clock.now();
    const finding = { kind: 'counted', weight: 1 } as const;
    const outcome: Outcome = { startedAt: at, at, finding, operation: 'chat', retryAfterMs: null, latency: null };
    health.report(model, outcome);
  };

  it('is not told again and again', async () => {
    report('m');
    configured.delete('m');
    for (let pulse = 0; pulse < 3; pulse++) await health.flush();
    expect(store.exchanges).toBe(0);
    report('n');
    for (let pulse = 0; pulse < 3; pulse++) await health.flush();
    expect(store.exchanges).toBe(1);
    expect([...(await store.read()).records.keys()]).toEqual(['n']);
  });

  it('is known again when they come back', async () => {
    report('m');
    await health.flush();
    configured.delete('m');
    report('m');
    await health.flush();
    configured.add('m');
    await health.refresh();
    expect(health.recordOf('m').failures).toBe(1);
  });
});

describe('what a process knows of the health of a model', () => {
  const clock = new ManualClock();
  const settings = { breakerOf: () => BREAKER };
  const report = (health: ModelHealth): void => {
    const at = clock.now();
    const finding = { kind: 'counted', weight: 1 } as const;
    health.report('m', { startedAt: at, at, finding, operation: 'chat', retryAfterMs: null, latency: null });
  };

  it('is shared whole, also what came while others were being told', async () => {
    const store = new CountingStore(clock);
    const health = new ModelHealth(store, settings, clock);
    report(health);
    const telling = health.flush();
    await Promise.resolve();
    report(health);
    await telling;
    await health.flush();
    const kept = (await store.read()).records.get('m');
    expect([health.recordOf('m').failures, kept?.record.failures]).toEqual([2, 2]);
  });

  it('is told again to a store that came back empty', async () => {
    let store = new CountingStore(clock);
    const lasting = new Proxy(store, { get: (_, name) => Reflect.get(store, name, store) as unknown });
    const health = new ModelHealth(lasting, settings, clock);
    report(health);
    await health.flush();
    store = new CountingStore(clock);
    await health.refresh();
    await health.flush();
    expect((await store.read()).records.get('m')?.record.failures).toBe(1);
  });
});
