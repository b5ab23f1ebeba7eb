import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Experiment } from '../experiment';
import { changeText } from '../scenario/what-if';
import { chartsOf } from './charts';
import { machine } from './machine';
import { reportText } from './markdown';

/** Writes report.md, results.json and the pictures of a run, and returns their folder. */
export function writeReport(experiment: Experiment, reportsFolder: string): string {
  const folder = join(reportsFolder, experiment.virtual === null ? experiment.name : `${experiment.name}-virtual`);
  mkdirSync(folder, { recursive: true });
  const charts = chartsOf(experiment);
  const where = machine();
  for (const { file, svg } of charts) writeFileSync(join(folder, file), svg);
  writeFileSync(join(folder, 'report.md'), reportText(experiment, charts, where));
  writeFileSync(join(folder, 'results.json'), `${JSON.stringify(results(experiment, where), null, 2)}\n`);
  return folder;
}

function results(experiment: Experiment, where: Readonly<Record<string, string>>): object {
  const { name, seed, virtual, whatIf, scale, products, durationMs, floor, verdicts, arms } = experiment;
  return {
    scenario: name,
    seed,
    virtual,
    what_if: whatIf.map(changeText),
    scale,
    products,
    duration_ms: durationMs,
    machine: where,
    verdicts: verdicts.map(({ target, ...verdict }) => ({ ...target, ...verdict })),
    model: floor,
    arms: arms.map(({ arm, figures, samples, use }) => ({ name: arm.name, title: arm.title, figures, samples, use })),
  };
}
