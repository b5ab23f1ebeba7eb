import { join } from 'node:path';
import { commandOf, commandText, InvalidCommandLine, USAGE, type Command } from './command-line';
import { runExperiment } from './experiment';
import { limitsLines, writeLimitsReport } from './limits/limits-report';
import { LIMITS, measureLimits } from './limits/measure-limits';
import { verdictLine } from './report/markdown';
import { writeReport } from './report/write-report';
import { projectFolder, readScenario, scenarioNames } from './scenario/read-file';

const tell = (line: string): void => console.log(line);

/** What is measured with the same care, but not by scenarios. */
const ELSEWHERE = [
  ['npm run bench -- --only quota', 'How the limits of a provider are kept and used'],
  ['npm run bench -- --only peers', 'Spillway beside other gateways'],
] as const;

/** Scenarios, and in real time what is measured beside them. */
function namesOf({ what, virtual }: Command): readonly string[] {
  if (what !== 'all') return [what];
  return [...scenarioNames(), ...(virtual ? [] : [LIMITS.name])].sort();
}

async function main(): Promise<void> {
  const command = commandOf(process.argv.slice(2));
  if (command === null) return tell(USAGE);
  if (command.what === 'list') return list();
  const names = namesOf(command);
  let missed = 0;
  for (const name of names) missed += await run(name, command);
  if (command.strict && missed > 0) process.exitCode = 1;
}

function list(): void {
  for (const name of scenarioNames()) tell(`${name.padEnd(16)} ${readScenario(name).title}`);
  tell(`${LIMITS.name.padEnd(16)} ${LIMITS.title}`);
  for (const [command, measures] of ELSEWHERE) tell(`\n${measures}:\n  ${command}`);
}

/** Measures decisions and returns how many of their targets were missed. */
async function runLimits(command: string, { short, virtual, out }: Command): Promise<number> {
  if (virtual) throw new InvalidCommandLine(`${LIMITS.name} is measured in real time only.`);
  tell(`${LIMITS.name} …`);
  const measured = await measureLimits(short);
  const file = writeLimitsReport(measured, command, out ?? join(projectFolder(), 'reports'));
  limitsLines(measured).forEach(tell);
  tell(`  ${file}`);
  return measured.verdicts.filter(({ met }) => met === false).length;
}

/** Runs one scenario and returns how many of its targets were missed. */
async function run(name: string, asked: Command): Promise<number> {
  const { out, virtual, recall, publish, ...how } = asked;
  const command = commandText(process.argv.slice(2), how.what, name);
  if (name === LIMITS.name) return runLimits(command, asked);
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
