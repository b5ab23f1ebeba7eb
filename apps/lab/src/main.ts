import { join } from 'node:path';
import { commandOf, commandText, type Command } from './command-line';
import { runExperiment } from './experiment';
import { verdictLine } from './report/markdown';
import { writeReport } from './report/write-report';
import { projectFolder, readScenario, scenarioNames } from './scenario/read-file';

const tell = (line: string): void => console.log(line);

/** What is measured with the same care, but not by scenarios. */
const ELSEWHERE = [
  [
    'npm run bench -- --only quota',
    'What decisions on limits cost, and how the limits of a provider are kept and used',
  ],
  ['npm run bench -- --only peers', 'Spillway beside other gateways'],
] as const;

async function main(): Promise<void> {
  const command = commandOf(process.argv.slice(2));
  if (command.what === 'list') return list();
  const names = command.what === 'all' ? scenarioNames() : [command.what];
  let missed = 0;
  for (const name of names) missed += await run(name, command);
  if (command.strict && missed > 0) process.exitCode = 1;
}

function list(): void {
  for (const name of scenarioNames()) tell(`${name.padEnd(16)} ${readScenario(name).title}`);
  for (const [command, measures] of ELSEWHERE) tell(`\n${measures}:\n  ${command}`);
}

/** Runs one scenario and returns how many of its targets were missed. */
async function run(name: string, { out, virtual, recall, publish, ...how }: Command): Promise<number> {
  const command = commandText(process.argv.slice(2), how.what, name);
  const experiment = await runExperiment({ ...how, name, command, virtual: virtual ? { recall } : null, tell });
  const project = projectFolder();
  const files = writeReport(experiment, {
    reports: out ?? join(project, 'reports'),
    publishIn: publish ? project : null,
  });
  const verdicts = [...experiment.verdicts, ...(experiment.again?.verdicts ?? [])];
  verdicts.forEach(verdict => tell(verdictLine(verdict)));
  files.forEach(file => tell(`  ${file}`));
  return verdicts.filter(({ result }) => result === 'missed').length;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
