import type { ModelHealth } from '@spillway/health';
import { TokenEstimator } from '@spillway/quota';
import { callOf, models } from '../../../test/support/turns';
import { HedgePlanner } from './hedge-planner';
import type { HighLoad } from './high-load';
import type { ModelPlanner } from './model-planner';

const [model] = models('limited');
if (model === undefined) throw new Error('no model');

describe('the size that is expected of a call', () => {
  const health = { usualMs: () => null } as unknown as ModelHealth;
  const estimator = new TokenEstimator();
  const planner = new HedgePlanner(health, {} as ModelPlanner, {} as HighLoad, estimator);
  const known = callOf('critical');
  const call = Object.assign(known, { route: { ...known.route, hedge: { after_ms: 0, max_share: 0.1 } } });

  const sizeAfter = (ms: number): string | undefined => {
    for (let index = 0; index < 400; index++) {
      const usage = { input: 8, output: index % 5 === 0 ? 1_000 : 100 };
      estimator.begin(call, model, 100)({ usage, ms });
    }
    return planner.plan(call, model)?.size;
  };

  it('stays the same where its model becomes slow, when a second one is wanted', () => {
    const whileQuick = sizeAfter(10);
    expect(whileQuick).toMatch(/^chat\?\d+$/);
    expect(sizeAfter(60_000)).toBe(whileQuick);
  });
});

describe('a call whose model may take long', () => {
  const usual = { ms: 50 };
  const health = { usualMs: () => usual.ms } as unknown as ModelHealth;
  const planner = new HedgePlanner(
    health,
    { isWell: () => true } as unknown as ModelPlanner,
    { isHigh: false } as HighLoad,
    new TokenEstimator(),
  );
  const call = (attempts = 0) => {
    const made = callOf('critical');
    made.journal.attempts = attempts;
    return Object.assign(made, { route: { ...made.route, hedge: { after_ms: 200, max_share: 0.5 } } });
  };

  it('asks a second one after what is usual, and never before the route wants it', () => {
    expect(planner.plan(call(), model)?.afterMs).toBe(200);
    usual.ms = 900;
    expect(planner.plan(call(), model)?.afterMs).toBe(900);
  });

  it('counts once in the share of its route, however many models it asks', () => {
    const choice = () => planner.choose(call(), [model]).kind;
    while (choice() === 'second');
    for (let attempt = 0; attempt < 10; attempt++) planner.plan(call(attempt), model);
    expect(choice()).toBe('none');
    planner.plan(call(), model);
    expect([choice(), choice()]).toEqual(['second', 'none']);
  });
});
