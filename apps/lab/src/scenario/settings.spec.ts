import { readScenario } from './read-file';
import { enforcedLimits, grantedLimits, merged, spillwayConfiguration } from './settings';

const scenario = readScenario('sales-day');
const scale = { size: 0.1, time: 0.2, arms_at_once: 1 };
const flagship = Object.values(scenario.models).at(0) ?? fail();

function fail(): never {
  throw new Error('a scenario has a model');
}

describe('settings at a scale', () => {
  it('shrinks limits by size and periods of growth by time', () => {
    expect(grantedLimits(flagship, scale)).toEqual({
      rpm: 500,
      tpm: 45_000,
      inflight: 0,
      growth: { max_ratio: 0.2, per_s: 36, floor_rps: 2.5 },
    });
  });

  it('lets the provider count in its own windows', () => {
    const model = { ...flagship, simulator: { window_s: 6 } };
    expect(enforcedLimits(model, scale)).toMatchObject({ rpm: 50, tpm: 4500 });
  });

  it('tells Spillway the limits of the provider unless they are lifted', () => {
    const of = (limited: boolean): string =>
      JSON.stringify(spillwayConfiguration(scenario, scale, {}, { providerUrl: 'http://127.0.0.1:1/v1', limited }));
    expect(of(true)).toContain('"rpm":500');
    expect(of(true)).toContain('"queue_limit":100,');
    expect(of(false)).not.toContain('rpm');
  });

  it('lets a smaller climber step sooner', () => {
    const climb = { mode: 'on', initial_rps: 10, interval_s: 10, probe_ratio: 0.05 };
    const models = { m: { ...flagship, spillway: { climb } } };
    const made = spillwayConfiguration(
      { ...scenario, models },
      scale,
      {},
      { providerUrl: 'http://127.0.0.1:1/v1', limited: true },
    );
    expect(made['models']).toMatchObject({
      m: { climb: { mode: 'on', initial_rps: 1, interval_s: 2, probe_ratio: 0.05 } },
    });
  });

  it('merges maps and replaces all else', () => {
    expect(merged({ a: { b: 1, c: [1] }, d: 1 }, { a: { c: [2] }, e: 3 })).toEqual({ a: { b: 1, c: [2] }, d: 1, e: 3 });
  });
});
