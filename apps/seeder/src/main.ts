import { Misuse, USAGE, readCommandLine } from './command-line';
import { seed } from './seed';

async function start(): Promise<void> {
  const command = readCommandLine(process.argv.slice(2), process.env);
  if (command === null) return console.log(USAGE);
  process.on('SIGINT', () => {
    console.error('\nThe seed goes on in Spillway; the same command follows it again.');
    process.exit(1);
  });
  process.exitCode = (await seed(command, process.stdin, process.stdout)) ? 0 : 1;
}

start().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  if (error instanceof Misuse) console.error(`\n${USAGE}`);
  process.exitCode = 1;
});
