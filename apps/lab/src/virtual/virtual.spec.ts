import { runExperiment, type Experiment } from '../experiment';
import { changeOf } from '../scenario/what-if';
import { VirtualTime } from './virtual-time';

/** The night of the sale, a small part of it: about 1 300 calls. */
function night(options: {
  readonly arms: readonly string[];
  readonly whatIf?: string;
  readonly seed?: number;
  readonly again?: number;
}) {
  const change = changeOf(options.whatIf ?? 'noise=0.2');
  return runExperiment({
    command: '',
    again: options.again ?? null,
    name: 'sales-day',
    seed: options.seed ?? 1,
    short: true,
    compress: null,
    arms: options.arms,
    whatIf: change === null ? [] : [change],
    virtual: { recall: 0.5 },
    tell: () => undefined,
  });
}

const figure = ({ arms: [arm] }: Experiment, name: string): number => arm?.figures[name] ?? NaN;

describe('VirtualTime', () => {
  it('does what is planned in the order of its moments, and within one in the order of planning', () => {
    const time = new VirtualTime();
    const done: string[] = [];
    for (const ms of [30, 10, 20, 10, 0, 25, 5]) time.after(ms, () => done.push(`${ms} at ${time.elapsedMs}`));
    time.after(10, () => time.after(2, () => done.push(`nested at ${time.elapsedMs}`)));
    time.run();
    expect(done).toEqual([
      '0 at 0',
      '5 at 5',
      '10 at 10',
      '10 at 10',
      'nested at 12',
      '20 at 20',
      '25 at 25',
      '30 at 30',
    ]);
  });
});

describe('the night of the sale in virtual time', () => {
  it('answers CRITICAL calls first where there is far too little quota, and is never refused', async () => {
    const experiment = await night({ arms: ['no-cache'] });
    expect(figure(experiment, 'critical.in_time')).toBeGreaterThan(figure(experiment, 'normal.in_time') + 0.2);
    expect(figure(experiment, 'critical.in_time')).toBeGreaterThanOrEqual(0.6);
    expect(figure(experiment, 'provider.refused')).toBe(0);
    expect(figure(experiment, 'provider.calls')).toBeGreaterThan(0);
  });

  it('answers nearly all CRITICAL calls in time with warmed caches', async () => {
    const experiment = await night({ arms: ['prewarmed'] });
    expect(figure(experiment, 'critical.in_time')).toBeGreaterThanOrEqual(0.99);
    expect(figure(experiment, 'provider.refused')).toBe(0);
  });

  it('answers more with twice the quota', async () => {
    const limits = (rpm: number): string => `models.flagship.limits={rpm: ${rpm}, tpm: 0, growth: null}`;
    const once = await night({ arms: ['no-cache'], whatIf: limits(5000) });
    const twice = await night({ arms: ['no-cache'], whatIf: limits(10_000) });
    expect(figure(once, 'all.in_time')).toBeLessThan(0.9);
    expect(figure(twice, 'all.in_time')).toBeGreaterThan(figure(once, 'all.in_time') + 0.05);
  });

  it('is the same for the same seed, and another for another', async () => {
    const [one, same, other] = [
      await night({ arms: ['cold'] }),
      await night({ arms: ['cold'] }),
      await night({ arms: ['cold'], seed: 2 }),
    ];
    expect(same.arms[0]?.figures).toEqual(one.arms[0]?.figures);
    expect(other.arms[0]?.figures).not.toEqual(one.arms[0]?.figures);
  });

  it('is judged once more with another seed, by the arms of which something is demanded', async () => {
    const { again, verdicts } = await night({ arms: ['sdk', 'no-cache'], again: 2 });
    expect(again?.seed).toBe(2);
    expect(again?.verdicts.map(({ target }) => target)).toEqual(verdicts.map(({ target }) => target));
    expect(again?.verdicts.map(({ figure }) => figure)).not.toEqual(verdicts.map(({ figure }) => figure));
    expect(new Set(verdicts.map(({ target }) => target.arm))).toEqual(new Set(['no-cache']));
  });

  it('shows what the SDK alone would do: it is refused', async () => {
    const experiment = await night({ arms: ['sdk'] });
    expect(figure(experiment, 'provider.refused')).toBeGreaterThan(0);
    expect(figure(experiment, 'critical.in_time')).toBeLessThan(0.97);
  });
});
