import { optionsOf } from './command-line';
import { startSimulator } from './simulator';

async function main(): Promise<void> {
  const simulator = await startSimulator(optionsOf(process.argv.slice(2), process.env));
  console.log(`Spillway's simulator answers at ${simulator.url} (it is not a model).`);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => void simulator.close().then(() => process.exit(0)));
  }
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
