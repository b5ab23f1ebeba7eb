import { parseArgs } from 'node:util';
import { changeOf, type Change } from './scenario/what-if';

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
  /** In virtual time. */
  readonly virtual: boolean;
  /** Share of the wordings that caches recognise in virtual time. */
  readonly recall: number;
  readonly whatIf: readonly Change[];
  /** Where reports go; null: `reports` in the project's folder. */
  readonly out: string | null;
}

const USAGE = `npm run lab -- SCENARIO | all | list
  --short         a small run, for a look
  --strict        exit code 1 when a target is missed
  --seed N        other arrivals and questions (1)
  --compress N    the curve in one Nth of its time
  --arm NAME      only this arm; may be repeated
  --what-if PATH=VALUE  another value in the scenario; may be repeated
  --virtual       the decisions alone, the whole curve in virtual time
  --recall SHARE  with --virtual: wordings that caches recognise (0.5)
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
    virtual: values.virtual,
    recall: number(values.recall, 'recall', 0),
    whatIf: values['what-if'].map(change),
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
        'what-if': { type: 'string', multiple: true, default: [] },
        virtual: { type: 'boolean', default: false },
        recall: { type: 'string', default: '0.5' },
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

function change(text: string): Change {
  const found = changeOf(text);
  if (found === null) throw new InvalidCommandLine(`--what-if wants PATH=VALUE, not ${text}.`);
  return found;
}
