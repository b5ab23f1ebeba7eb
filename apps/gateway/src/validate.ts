import { ConfigurationError, describeProblem, loadSettings, readEnvironment, type Settings } from '@spillway/config';

/** `npm run validate -- [FILE]`: loads a configuration as the gateway would, and says what it found. */
function main(argument: string | undefined): void {
  try {
    const environment = readEnvironment();
    report(loadSettings(argument === undefined ? environment : { ...environment, file: argument }));
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    for (const problem of error.problems) process.stdout.write(`${describeProblem(problem)}\n`);
    process.exitCode = 1;
  }
}

function report({ file, routes, models, keys }: Settings): void {
  const callers = keys.length === 0 ? 'none, only loopback is served' : String(keys.length);
  process.stdout.write(
    `${file ?? 'built-in configuration'}: ok\n` +
      `  routes: ${[...routes.keys()].join(', ')}\n` +
      `  models: ${[...models.keys()].join(', ')}\n` +
      `  keys: ${callers}\n`,
  );
}

main(process.argv[2]);
