import { PRIORITIES } from '@spillway/contracts';
import type { Experiment } from '../experiment';
import { QDRANT_WAS } from '../processes/qdrant';
import type { Verdict } from '../results/verdicts';
import type { Target } from '../scenario/schema';
import { changeText } from '../scenario/what-if';
import type { Chart } from './charts';
import { table } from './table';

type Unit = Target['unit'];

/** A row of figures: what it says, the figure, its unit. */
export type Row = readonly [string, string, Unit];

/** Rows of the table of figures. */
const ROWS: readonly Row[] = [
  ...PRIORITIES.flatMap((priority): Row[] => [
    [`${priority.toUpperCase()} in time`, `${priority}.in_time`, 'share'],
    ['– p50', `${priority}.p50`, 'ms'],
    ['– p95', `${priority}.p95`, 'ms'],
    ['– p99', `${priority}.p99`, 'ms'],
    ['– got the fallback text', `${priority}.fallback`, 'share'],
    ['– refused (429)', `${priority}.refused`, 'share'],
    ['– gave up waiting', `${priority}.late`, 'share'],
    ['– failed otherwise', `${priority}.failed`, 'share'],
  ]),
  ['tries beyond the first, each call', 'all.retries', 'number'],
  ['calls that the provider got', 'provider.calls', 'number'],
  ['– refused', 'provider.refused', 'number'],
  ['– refused, share', 'provider.refused_share', 'share'],
  ['calls taken a second at last, of the capacity', 'reach.of_capacity', 'share'],
  ['time until 90 % of the capacity, of the whole run', 'reach.time_to_90', 'share'],
  ['quota used while CRITICAL or NORMAL waited', 'quota.used_while_waiting', 'share'],
  ['– while tokens bound', 'quota.used_while_tokens_bind', 'share'],
  ['– while calls bound', 'quota.used_while_calls_bind', 'share'],
  ['– while the growth bound', 'quota.used_while_growth_binds', 'share'],
  ['answered without a model', 'hits', 'share'],
  ['– exact', 'hits.exact', 'share'],
  ['– canonical', 'hits.canonical', 'share'],
  ['– semantic', 'hits.semantic', 'share'],
  ['– coalesced', 'hits.coalesced', 'share'],
  ['– wrong, of those', 'hits.wrong', 'share'],
  ['tokens', 'provider.tokens', 'number'],
  ['money', 'money', 'money'],
  ['money for 1 000 answers in time', 'money.per_1000_answers', 'money'],
  ['parts that Spillway knew to be lost', 'parts.lost', 'number'],
  ['– at the end', 'parts.lost_at_end', 'number'],
  ["memory of Spillway's process, end ÷ middle", 'process.rss_growth', 'number'],
  ["handles of Spillway's process, end ÷ middle", 'process.handles_growth', 'number'],
];

/** What a report is written with beside the run itself. */
export interface Attachments {
  readonly charts: readonly Chart[];
  /** The folder of their files, as seen from the report; empty or ending in `/`. */
  readonly pictures: string;
  readonly machine: Readonly<Record<string, string>>;
}

/** The report as Markdown. */
export function reportText(experiment: Experiment, { charts, pictures, machine }: Attachments): string {
  const { scenario } = experiment;
  const picture = ({ file, caption }: Chart): string => `![${caption}](${pictures}${file})\n\n${caption}`;
  return `${[
    `# ${scenario.title}`,
    scenario.about.trim(),
    origin(experiment),
    table(['', ''], [...Object.entries(machine), ...settings(experiment)]),
    '## Targets',
    verdictTable(experiment),
    ...charts.slice(0, 1).map(picture),
    '## Figures',
    figureTable(experiment),
    'A quantile counts calls that were never answered as longest: “never” means that so many were not answered in time. Times run from the moment for which a call was planned.',
    ...charts.slice(1).map(picture),
  ].join('\n\n')}\n`;
}

/** A line for people who watch. */
export function verdictLine(verdict: Verdict): string {
  const { target, figure, result } = verdict;
  const mark = result === 'met' ? '✓' : result === 'missed' ? '✗' : '?';
  return `  ${mark} ${target.what}: ${shown(figure, target.unit)} (${boundText(verdict)})`;
}

function origin({ command, virtual }: Experiment): string {
  return virtual === null
    ? `Written by \`${command}\`. Absolute times belong to the machine; arms of one run can be compared.`
    : `Written by \`${command}\`, in **virtual** time: the decisions of limits, order and climber are Spillway's own, the provider is the simulator's; network, Redis and the health of models are left out, and so times are those of model and waiting. Caches recognise the same text, and ${shown(virtual.recall, 'share')} of the other wordings of a question that has been answered; whether they would be wrong is not asked.`;
}

function settings({
  scenario,
  virtual,
  seed,
  whatIf,
  scale,
  durationMs,
  products,
  floor,
  arms,
}: Experiment): [string, string][] {
  const together =
    scale.arms_at_once > 1 ? `, ${scale.arms_at_once} arms side by side with processes of their own` : '';
  return [
    ['seed', String(seed)],
    ...whatIf.map((change): [string, string] => ['what if', `\`${changeText(change)}\``]),
    ['scale', `size ${part(scale.size)} of all rates and limits, time ${part(scale.time)} of the curve${together}`],
    ['length', `${Math.round(durationMs / 1000)} s, ${count(arms[0]?.figures['calls'] ?? 0)} calls for each arm`],
    ['products', count(products)],
    ...(scenario.qdrant && virtual === null ? [['Qdrant', QDRANT_WAS] satisfies [string, string]] : []),
    ['what is not scaled', "windows of 60 s, deadlines and the model's answer times"],
    ['the model itself', `p50 ${shown(floor['all.p50'] ?? null, 'ms')}, p95 ${shown(floor['all.p95'] ?? null, 'ms')}`],
  ];
}

function verdictTable({ verdicts, again }: Experiment): string {
  const repeated = (index: number): string[] => {
    const verdict = again?.verdicts[index];
    return verdict === undefined ? [] : [shown(verdict.figure, verdict.target.unit), resultText(verdict)];
  };
  return table(
    ['', 'arm', 'known', 'target', 'measured', '', ...(again === null ? [] : [`seed ${again.seed}`, ''])],
    verdicts.map((verdict, index) => [
      verdict.target.what,
      verdict.target.arm,
      verdict.target.known,
      boundText(verdict),
      shown(verdict.figure, verdict.target.unit),
      resultText(verdict),
      ...repeated(index),
    ]),
  );
}

function boundText({ target, bound }: Verdict): string {
  return `${target.at_least === undefined ? '≤' : '≥'} ${shown(bound, target.unit)}`;
}

function resultText({ result }: Verdict): string {
  return result === 'missed' ? '**missed**' : result;
}

function figureTable({ arms }: Experiment): string {
  return armTable(
    arms,
    ROWS.filter(([, figure]) => arms.some(({ figures }) => isTelling(figures[figure]))),
  );
}

/** Figures of arms beside each other. */
export function armTable(arms: Experiment['arms'], rows: readonly Row[]): string {
  const cells = rows.map(([what, figure, unit]) => [
    what,
    ...arms.map(({ figures }) => {
      const value = figures[figure];
      return value === null && /\.p\d+$/.test(figure) ? 'never' : shown(value ?? null, unit);
    }),
  ]);
  return table(['', ...arms.map(({ arm }) => arm.title)], cells);
}

function isTelling(value: number | null | undefined): boolean {
  return value !== undefined && value !== null && value !== 0;
}

/** A figure as people read it. */
export function shown(value: number | null, unit: Unit): string {
  if (value === null) return '–';
  switch (unit) {
    case 'share':
      return `${(value * 100).toFixed(Math.abs(value) < 0.01 || value > 0.99 ? 2 : 1)} %`;
    case 'ms':
      return value >= 1000
        ? `${(value / 1000).toFixed(2)} s`
        : `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
    case 's':
      return `${value.toFixed(1)} s`;
    case 'money':
      return value.toFixed(3);
    case 'number':
      return Number.isInteger(value) ? count(value) : value.toFixed(2);
    default:
      return unit satisfies never;
  }
}

function part(factor: number): string {
  return factor === 1 ? 'full' : `1/${Number((1 / factor).toPrecision(3))}`;
}

function count(value: number): string {
  return value.toString().replace(/\B(?=(\d{3})+$)/g, ' ');
}
