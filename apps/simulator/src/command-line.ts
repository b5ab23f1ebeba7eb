import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import type { SimulatorOptions } from './simulator';

const STANDARD_PORT = 9100;

/** A command line, environment or file that cannot be used. */
export class InvalidCommandLine extends Error {
  readonly code = 'invalid_command_line';
}

/** What `npm run simulator` was asked for: `--config FILE`, and `PORT` and `HOST` of the environment. */
export function optionsOf(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): SimulatorOptions {
  const { values } = parseArgs({ args: [...args], options: { config: { type: 'string' } } });
  const file = values.config === undefined ? {} : fileOptions(readFileSync(values.config, 'utf8'));
  return { ...file, port: portOf(environment['PORT']), host: environment['HOST'] };
}

/** Reads `{ strict, default, models }`. */
export function fileOptions(text: string): SimulatorOptions {
  const file: unknown = parse(text) ?? {};
  if (typeof file !== 'object' || file === null || Array.isArray(file)) {
    throw new InvalidCommandLine('The file must be a map of strict, default and models.');
  }
  const { strict, default: defaultModel, models, ...unknown } = file as Record<string, unknown>;
  const [key] = Object.keys(unknown);
  if (key !== undefined) throw new InvalidCommandLine(`The file has the unknown key ${key}.`);
  return { strict: strict === true, defaultModel, models } as SimulatorOptions;
}

function portOf(text: string | undefined): number {
  const port = text === undefined || text === '' ? STANDARD_PORT : Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new InvalidCommandLine(`PORT is not a port: ${text}`);
  return port;
}
