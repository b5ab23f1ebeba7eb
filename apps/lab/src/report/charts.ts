import { PRIORITIES, type Priority } from '@spillway/contracts';
import type { ArmResult } from '../arm/arm-result';
import type { Experiment } from '../experiment';
import type { CallRecord } from '../results/records';
import { bySpan, quantile, ratio } from '../results/statistics';
import { barChart, lineCharts, type Panel, type Series } from './svg';

const COLOURS: Readonly<Record<Priority, string>> = { critical: '#c2410c', normal: '#1d6fb8', low: '#7b8794' };
const GREY = '#9aa5b1';
const RED = '#b91c1c';
const GREEN = '#15803d';
const SPANS = 60;
const MS_PER_MINUTE = 60_000;

/** A picture of a report. */
export interface Chart {
  readonly file: string;
  readonly caption: string;
  readonly svg: string;
}

export function chartsOf(experiment: Experiment): Chart[] {
  return [answered(experiment), rates(experiment), times(experiment), quota(experiment), ...ofSpillway(experiment)];
}

function answered({ scenario, arms }: Experiment): Chart {
  const groups = arms.map(({ arm, figures }) => ({
    name: arm.title,
    bars: PRIORITIES.filter(priority => (figures[`${priority}.calls`] ?? 0) > 0).map(priority => ({
      name: `${priority.toUpperCase()} within ${scenario.deadlines_s[priority]} s`,
      share: figures[`${priority}.in_time`] ?? null,
      colour: COLOURS[priority],
    })),
  }));
  return {
    file: 'answered.svg',
    caption: 'Calls that a model or a cache answered within their deadline.',
    svg: barChart(`${scenario.title}: answered in time`, groups),
  };
}

function rates(experiment: Experiment): Chart {
  const panel = ({ arm, records }: ArmResult): Panel => ({
    title: arm.title,
    series: [
      perSecond(experiment, records, { name: 'calls', colour: GREY, dashed: true }, () => true),
      ...PRIORITIES.map(priority =>
        perSecond(
          experiment,
          records,
          { name: `${priority} answered in time`, colour: COLOURS[priority] },
          record => record.priority === priority && record.ending === 'answered',
        ),
      ),
      perSecond(
        experiment,
        records,
        { name: 'not answered', colour: RED, dashed: true },
        ({ ending }) => ending !== 'answered',
      ),
    ],
  });
  return chart(experiment, 'rates', 'Calls by class and outcome, by the time for which they were planned.', panel, {
    y: 'calls a second',
  });
}

function times(experiment: Experiment): Chart {
  const line = (records: readonly CallRecord[], priority: Priority, share: number, dashed: boolean): Series => ({
    name: `${priority} p${share * 100}`,
    colour: COLOURS[priority],
    dashed,
    points: spansOf(experiment, records).map(({ x, within }) => {
      const took = within.filter(record => record.priority === priority).map(timeOf);
      const value = quantile(took, share);
      return { x, y: value === null || value === Infinity ? null : value / 1000 };
    }),
  });
  const panel = ({ arm, records }: ArmResult): Panel => ({
    title: arm.title,
    series: PRIORITIES.flatMap(priority => [line(records, priority, 0.5, true), line(records, priority, 0.95, false)]),
  });
  const caption = 'Time to the whole answer; a line ends where so many calls are not answered in time.';
  return chart(experiment, 'times', caption, panel, { y: 'seconds' });
}

function quota(experiment: Experiment): Chart {
  const panel = ({ arm, use, samples }: ArmResult): Panel => ({
    title: arm.title,
    series: [
      {
        name: 'use of what may be used, %',
        colour: GREEN,
        points: use.map(({ ms, share }) => ({ x: minute(experiment, ms), y: share === null ? null : share * 100 })),
      },
      {
        name: 'calls refused so far, % of all',
        colour: RED,
        points: samples.map(({ ms, provider }) => {
          const counts = Object.values(provider);
          const refused = counts.reduce((sum, one) => sum + one.refused, 0);
          const part = ratio(refused, refused + counts.reduce((sum, one) => sum + one.accepted, 0));
          return { x: minute(experiment, ms), y: part === null ? null : part * 100 };
        }),
      },
    ],
  });
  const caption =
    'Use of the limit that binds (calls or tokens of the last 60 s, or the growth), less the headroom: 100 % is all that Spillway may take, 125 % all that the provider grants.';
  return chart(experiment, 'quota', caption, panel, { y: '%', most: 125 });
}

/** What only a router knows. */
function ofSpillway(experiment: Experiment): Chart[] {
  const arms = experiment.arms.filter(({ arm }) => arm.client === 'spillway');
  if (arms.length === 0) return [];
  const only = { ...experiment, arms };
  const [model = ''] = Object.keys(experiment.scenario.models);
  const hits = ({ arm, records }: ArmResult): Panel => ({
    title: arm.title,
    series: (['exact', 'canonical', 'semantic', 'coalesced'] as const).map((tier, index) => ({
      name: tier,
      colour: [COLOURS.normal, GREEN, COLOURS.critical, GREY][index] ?? GREY,
      points: spansOf(experiment, records).map(({ x, within }) => ({
        x,
        y: (ratio(within.filter(record => record.tier === tier).length, within.length) ?? 0) * 100,
      })),
    })),
  });
  const climb = ({ arm, samples }: ArmResult): Panel => ({
    title: arm.title,
    series: [
      {
        name: 'rate of the climber',
        colour: COLOURS.critical,
        points: samples.map(({ ms, rates }) => ({ x: minute(experiment, ms), y: rates[model] ?? null })),
      },
      {
        name: 'calls that the provider took',
        colour: COLOURS.normal,
        points: samples.slice(1).map(({ ms, provider }, index) => {
          const before = samples[index];
          const taken = (provider[model]?.accepted ?? 0) - (before?.provider[model]?.accepted ?? 0);
          return { x: minute(experiment, ms), y: (taken * 1000) / Math.max(1, ms - (before?.ms ?? 0)) };
        }),
      },
    ],
  });
  return [
    chart(only, 'hits', 'Calls answered without a call of a model, by tier.', hits, { y: '%', most: 100 }),
    chart(only, 'climber', `The climber's rate, where it has one, and what ${model} took.`, climb, {
      y: 'calls a second',
    }),
  ];
}

function chart(
  experiment: Experiment,
  name: string,
  caption: string,
  panel: (arm: ArmResult) => Panel,
  axes: { readonly y: string; readonly most?: number },
): Chart {
  const title = `${experiment.scenario.title}: ${name}`;
  return {
    file: `${name}.svg`,
    caption,
    svg: lineCharts(title, experiment.arms.map(panel), { x: 'minute of the scenario', ...axes }),
  };
}

function perSecond(
  experiment: Experiment,
  records: readonly CallRecord[],
  look: Omit<Series, 'points'>,
  matches: (record: CallRecord) => boolean,
): Series {
  const secondsOfSpan = experiment.durationMs / SPANS / 1000;
  const spans = spansOf(experiment, records.filter(matches));
  return { ...look, points: spans.map(({ x, within }) => ({ x, y: within.length / secondsOfSpan })) };
}

function spansOf(experiment: Experiment, records: readonly CallRecord[]) {
  const { durationMs } = experiment;
  return bySpan(records, ({ plannedMs }) => plannedMs, durationMs, SPANS).map((within, index) => ({
    within,
    x: minute(experiment, ((index + 0.5) / SPANS) * durationMs),
  }));
}

/** A call that was not answered took longer than all that were. */
function timeOf({ ending, tookMs }: CallRecord): number {
  return ending === 'answered' ? tookMs : Infinity;
}

function minute({ scale }: Pick<Experiment, 'scale'>, ms: number): number {
  return ms / MS_PER_MINUTE / scale.time;
}
