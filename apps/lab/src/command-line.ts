import { parseArgs } from 'node:util';

/** A command line that cannot be used. */
export class InvalidCommandLine extends Error {
  readonly code = 'invalid_command_line';
}

/** What `npm run lab -- …` was asked for. */
export interface Command {
  /** The name of a scenario, or `all` or `list`. */
  readonly what: string;
  readonly short: boolean;
  /** A missed target is a failure. */
  readonly strict: boolean;
  readonly seed: number;
  readonly compress: number | null;
  /** Empty: all. */
  readonly arms: readonly string[];
  /** Where reports go; null: `reports` in the project's folder. */
  readonly out: string | null;
}

const USAGE = `npm run lab -- SCENARIO | all | list
  --short         a small run, for a look
  --strict        exit code 1 when a target is missed
  --seed N        other arrivals and questions (1)
  --compress N    the curve in one Nth of its time
  --arm NAME      only this arm; may be repeated
  --out FOLDER    where reports go (reports)`;

export function commandOf(args: readonly string[]): Command {
  const { values, positionals } = parsed(args);
  const [what, ...more] = positionals;
  if (what === undefined || more.length > 0) throw new InvalidCommandLine(USAGE);
  const compress = values.compress === undefined ? null : number(values.compress, 'compress', 1);
  return {
    what,
    short: values.short,
    strict: values.strict,
    seed: number(values.seed, 'seed', 0),
    compress,
    arms: values.arm,
    out: values.out ?? null,
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        short: { type: 'boolean', default: false },
        strict: { type: 'boolean', default: false },
        seed: { type: 'string', default: '1' },
        compress: { type: 'string' },
        arm: { type: 'string', multiple: true, default: [] },
        out: { type: 'string' },
      },
    });
  } catch (error) {
    throw new InvalidCommandLine(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
  }
}

function number(text: string, name: string, least: number): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value < least)
    throw new InvalidCommandLine(`--${name} must be a number from ${least}.`);
  return value;
}
