import type { ModelSettings, Priority } from '@spillway/contracts';
import type { HealthState } from '@spillway/health';
import { planChain, shedChain, type Candidate } from './plan';

const model = (name: string): ModelSettings => ({ name }) as ModelSettings;
const CLOSED: HealthState = { kind: 'closed', since: 0 };
const DEGRADED: HealthState = { kind: 'degraded', since: 0, why: 'error-rate', good: 0, probeAt: 0 };
const open = (probeAt = 0): HealthState => ({ kind: 'open', since: 0, why: 'error-rate', times: 0, probeAt });
const halfOpen = (good: number): HealthState => ({ ...open(), kind: 'half-open', good }) as HealthState;
const candidate = (name: string, state: HealthState | null, more: Partial<Candidate> = {}): Candidate => ({
  model: model(name),
  state,
  paused: false,
  errorRate: 0,
  ...more,
});
const planned = (candidates: readonly Candidate[], priority: Priority = 'normal'): string[] =>
  planChain(candidates, priority).models.map(({ name }) => name);

describe('the plan of a walk', () => {
  it('keeps the order of a chain that is well', () => {
    expect(planned([candidate('a', null), candidate('b', CLOSED), candidate('c', halfOpen(1))])).toEqual([
      'a',
      'b',
      'c',
    ]);
  });

  it('leaves out what is paused, open, or waits for its first probe', () => {
    const chain = [
      candidate('a', CLOSED, { paused: true }),
      candidate('b', open()),
      candidate('c', halfOpen(0)),
      candidate('d', CLOSED),
    ];
    expect(planned(chain)).toEqual(['d']);
  });

  it('puts a degraded model last, but CRITICAL keeps the best one while few of its calls fail', () => {
    const chain = (errorRate: number): Candidate[] => [candidate('a', DEGRADED, { errorRate }), candidate('b', CLOSED)];
    expect(planned(chain(0.2))).toEqual(['b', 'a']);
    expect(planned(chain(0.2), 'low')).toEqual(['b', 'a']);
    expect(planned(chain(0.29), 'critical')).toEqual(['a', 'b']);
    expect(planned(chain(0.3), 'critical')).toEqual(['b', 'a']);
  });

  it('names the least bad where all are down, and nobody where all are paused', () => {
    const lastOf = (chain: readonly Candidate[]): string | undefined => planChain(chain, 'low').lastResort?.model.name;
    expect(lastOf([candidate('a', open(), { errorRate: 1 }), candidate('b', open(), { errorRate: 0.6 })])).toBe('b');
    expect(lastOf([candidate('a', open(9), { errorRate: 1 }), candidate('b', open(5), { errorRate: 1 })])).toBe('b');
    expect(lastOf([candidate('a', open()), candidate('b', CLOSED, { paused: true })])).toBe('a');
    expect(lastOf([candidate('a', CLOSED, { paused: true })])).toBeUndefined();
  });
});

describe('a chain under high load', () => {
  it('begins with the model that the class is shed to', () => {
    const [a, b, c] = [model('a'), model('b'), model('c')];
    expect(shedChain([a, b, c], b)).toEqual([b, c]);
    expect(shedChain([a, b], c)).toEqual([c]);
  });
});
