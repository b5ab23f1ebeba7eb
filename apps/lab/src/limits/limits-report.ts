import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { machine } from '../report/machine';
import { shown } from '../report/markdown';
import { table } from '../report/table';
import { LIMITS, type LimitsMeasurement } from './measure-limits';

const COLUMNS = [
  ['decisions a second', 'perSecond'],
  ['p50, ms', 'p50'],
  ['p99, ms', 'p99'],
  ['came too late', 'failed'],
  ['bytes of the model', 'bytes'],
] as const;

/** Writes report.md and results.json, and returns the file that tells it. */
export function writeLimitsReport(measured: LimitsMeasurement, command: string, reports: string): string {
  const folder = join(reports, LIMITS.name);
  mkdirSync(folder, { recursive: true });
  const where = machine();
  const file = join(folder, 'report.md');
  writeFileSync(file, limitsText(measured, command, where));
  const results = { scenario: LIMITS.name, command, machine: where, ...measured };
  writeFileSync(join(folder, 'results.json'), `${JSON.stringify(results, null, 2)}\n`);
  return file;
}

/** The report as Markdown. */
export function limitsText(
  { note, rows, verdicts }: LimitsMeasurement,
  command: string,
  where: Readonly<Record<string, string>>,
): string {
  return `${[
    `# ${LIMITS.title}`,
    `${note} One process decides by Redis at a given rate, whether earlier decisions have come back or not: a time counts from when its decision was due. The empty script takes the same keys and does nothing with them: the floor of this machine in the same run.`,
    `Written by \`${command}\`. Absolute times belong to the machine.`,
    table(['', ''], Object.entries(where)),
    '## Targets',
    table(
      ['', 'target', 'measured', '', 'beside it'],
      verdicts.map(({ what, target, figure, met, madeOf }) => [
        what,
        target,
        number(figure),
        met === null ? 'undecided' : met ? 'met' : '**missed**',
        madeOf ?? '',
      ]),
    ),
    '## Figures',
    table(
      ['', ...COLUMNS.map(([heading]) => heading)],
      rows.map(row => [row.name, ...COLUMNS.map(([, key]) => number(row[key]))]),
    ),
  ].join('\n\n')}\n`;
}

/** Verdicts as lines for people who watch. */
export function limitsLines({ verdicts }: LimitsMeasurement): string[] {
  return verdicts.map(({ what, figure, target, met }) => {
    const mark = met === null ? '?' : met ? '✓' : '✗';
    return `  ${mark} ${what}: ${number(figure)} (${target})`;
  });
}

function number(value: string | number | null | undefined): string {
  if (typeof value !== 'number') return '–';
  return shown(value >= 100 ? Math.round(value) : value, 'number');
}
