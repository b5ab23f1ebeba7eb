import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Experiment } from '../experiment';
import type { Verdict } from '../results/verdicts';
import { changeText } from '../scenario/what-if';
import { chartsOf } from './charts';
import { machine } from './machine';
import { reportText, type Attachments } from './markdown';
import { publish } from './publish';

/** Where reports go; `publishIn`: the project's folder, where the run is to be kept for its documentation. */
interface Places {
  readonly reports: string;
  readonly publishIn: string | null;
}

/** Writes report.md, results.json and the pictures of a run, and returns the files that tell it. */
export function writeReport(experiment: Experiment, { reports, publishIn }: Places): string[] {
  const folder = join(reports, experiment.virtual === null ? experiment.name : `${experiment.name}-virtual`);
  mkdirSync(folder, { recursive: true });
  const where = machine();
  const attachments: Attachments = { charts: chartsOf(experiment), pictures: '', machine: where };
  for (const { file, svg } of attachments.charts) writeFileSync(join(folder, file), svg);
  writeFileSync(join(folder, 'report.md'), reportText(experiment, attachments));
  writeFileSync(join(folder, 'results.json'), `${JSON.stringify(results(experiment, where), null, 2)}\n`);
  return [join(folder, 'report.md'), ...(publishIn === null ? [] : publish(experiment, attachments, publishIn))];
}

function results(experiment: Experiment, where: Readonly<Record<string, string>>): object {
  const { name, command, seed, virtual, whatIf, scale, products, durationMs, floor, verdicts, again, arms } =
    experiment;
  return {
    scenario: name,
    command,
    seed,
    virtual,
    what_if: whatIf.map(changeText),
    scale,
    products,
    duration_ms: durationMs,
    machine: where,
    verdicts: verdicts.map(flat),
    again: again && { ...again, verdicts: again.verdicts.map(flat) },
    model: floor,
    arms: arms.map(({ arm, figures, samples, use }) => ({ name: arm.name, title: arm.title, figures, samples, use })),
  };
}

function flat({ target, ...verdict }: Verdict): object {
  return { ...target, ...verdict };
}
