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
  /** Another seed, with which the arms that have targets run once more. */
  readonly again: number | null;
  /** Keep the run for the documentation. */
  readonly publish: boolean;
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

export const USAGE = `npm run lab -- SCENARIO | all | list
  --short         a small run, for a look
  --strict        exit code 1 when a target is missed
  --seed N        other arrivals and questions (1)
  --again N       the arms that have targets once more, with this seed
  --publish       keep the run in docs/benchmarks, and its picture and table in the README
  --compress N    the curve in one Nth of its time
  --arm NAME      only this arm; may be repeated
  --what-if PATH=VALUE  another value in the scenario; may be repeated
  --virtual       the decisions alone, the whole curve in virtual time
  --recall SHARE  with --virtual: wordings that caches recognise (0.5)
  --out FOLDER    where reports go (reports)`;

/** Null: help is wanted. */
export function commandOf(args: readonly string[]): Command | null {
  const { values, positionals } = parsed(args);
  if (values.help) return null;
  const [what, ...more] = positionals;
  if (what === undefined || more.length > 0) throw new InvalidCommandLine(USAGE);
  if (values.publish && (values.virtual || values.arm.length > 0)) {
    throw new InvalidCommandLine('--publish wants all arms of a scenario, in real time.');
  }
  return {
    what,
    short: values.short,
    strict: values.strict,
    seed: number(values.seed, 'seed', 0),
    again: values.again === undefined ? null : number(values.again, 'again', 0),
    publish: values.publish,
    compress: values.compress === undefined ? null : number(values.compress, 'compress', 1),
    arms: values.arm,
    virtual: values.virtual,
    recall: number(values.recall, 'recall', 0),
    whatIf: values['what-if'].map(change),
    out: values.out ?? null,
  };
}

/** The same for one scenario, to be typed again; where reports go is nobody else's business. */
export function commandText(args: readonly string[], what: string, name: string): string {
  const out = args.indexOf('--out');
  const words = args.filter(
    (word, index) => word !== what && !word.startsWith('--out=') && (out < 0 || (index !== out && index !== out + 1)),
  );
  return ['npm run lab --', name, ...words].join(' ');
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
        again: { type: 'string' },
        publish: { type: 'boolean', default: false },
        compress: { type: 'string' },
        arm: { type: 'string', multiple: true, default: [] },
        'what-if': { type: 'string', multiple: true, default: [] },
        virtual: { type: 'boolean', default: false },
        recall: { type: 'string', default: '0.5' },
        out: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
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
