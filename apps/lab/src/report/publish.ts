import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PRIORITIES } from '@spillway/contracts';
import type { Experiment } from '../experiment';
import { armTable, reportText, type Attachments, type Row } from './markdown';

/**
 * Keeps a run as the one that the documentation shows: its report and pictures in docs/benchmarks, and a picture and a
 * table in the README where that has a place for the scenario. Returns the files that tell it.
 */
export function publish(experiment: Experiment, attachments: Attachments, projectFolder: string): string[] {
  const { name } = experiment;
  const folder = join(projectFolder, 'docs/benchmarks');
  const pictures = join(folder, name);
  rmSync(pictures, { recursive: true, force: true });
  mkdirSync(pictures, { recursive: true });
  for (const { file, svg } of attachments.charts) writeFileSync(join(pictures, file), svg);
  const report = join(folder, `${name}.md`);
  writeFileSync(report, reportText(experiment, { ...attachments, pictures: `${name}/` }));
  const readme = join(projectFolder, 'README.md');
  const before = readFileSync(readme, 'utf8');
  const after = withSection(before, name, sectionText(experiment, attachments));
  if (after === null) return [report];
  writeFileSync(readme, after);
  return [report, readme];
}

/** A text with another section of a scenario between its marks; null: it has no such marks. */
export function withSection(text: string, name: string, section: string): string | null {
  const [begin, end] = [`<!-- lab ${name}: begin -->`, `<!-- lab ${name}: end -->`];
  const [from, until] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || until < from) return null;
  return `${text.slice(0, from + begin.length)}\n\n${section}\n\n${text.slice(until)}`;
}

function sectionText(experiment: Experiment, { charts, machine }: Attachments): string {
  const { name, scenario, arms, verdicts, again, command, isShort } = experiment;
  const [first] = charts;
  const within = (priority: (typeof PRIORITIES)[number]): string => `within ${scenario.deadlines_s[priority]} s`;
  const rows: Row[] = [
    ...PRIORITIES.map((priority): Row => [
      `${priority.toUpperCase()} answered ${within(priority)}`,
      `${priority}.in_time`,
      'share',
    ]),
    ['CRITICAL p95', 'critical.p95', 'ms'],
    ['calls that the provider refused', 'provider.refused', 'number'],
    ['answered without a model', 'hits', 'share'],
    ['– wrong, of those', 'hits.wrong', 'share'],
    ['money for 1 000 answers in time', 'money.per_1000_answers', 'money'],
  ];
  const met = verdicts.filter(({ result }) => result === 'met').length;
  const decided = verdicts.filter(({ result }) => result !== 'undecided').length;
  const same =
    again === null ? '' : `, ${sameVerdicts(experiment) ? 'and the same' : 'but not the same'} with seed ${again.seed}`;
  const caution = isShort ? '**A short run, for a look.** ' : '';
  return [
    ...(first === undefined ? [] : [`![${scenario.title}: ${first.caption}](docs/benchmarks/${name}/${first.file})`]),
    armTable(arms, rows),
    `${caution}${met} of ${decided} targets that could be decided are met${same}. Written by \`${command}\` (${machine['date'] ?? ''}); how it was measured, and every target, is in [docs/benchmarks/${name}.md](docs/benchmarks/${name}.md).`,
  ].join('\n\n');
}

function sameVerdicts({ verdicts, again }: Experiment): boolean {
  return verdicts.every(({ result }, index) => result === again?.verdicts[index]?.result);
}
