import { parseArgs } from 'node:util';

export interface SeedCommand {
  /** `-`: standard input. */
  readonly file: string;
  readonly url: string;
  /** Null: none is needed. */
  readonly adminKey: string | null;
  readonly route: string | null;
  readonly key: string | null;
  /** Whether the file is a log of questions rather than a text of seeds. */
  readonly fromLog: boolean;
  /** A file of questions to try afterwards. */
  readonly sample: string | null;
}

/** A command line that makes no sense; its message says why. */
export class Misuse extends Error {}

export const USAGE = `Usage: npm run seed -- FILE [--route R] [--key NAME] [--url URL] [--from-log] [--estimate SAMPLE]

Fills the caches of a running Spillway with the answers to the questions of FILE ("-": standard input).
A line of FILE is {"scope"?, "route"?, "question"} or {"scope"?, "route"?, "messages"}, and may have an "answer".

  --route R          where lines go that name no route (default: the only route)
  --key NAME         the configured key whose callers will be served (default: the first, or callers without a key)
  --url URL          the running Spillway (default: SPILLWAY_URL, or http://127.0.0.1:8080)
  --from-log         FILE is a log of questions or of OpenAI requests: each question once, the most frequent first
  --estimate SAMPLE  tells which share of the questions of SAMPLE the caches answer afterwards

SPILLWAY_ADMIN_KEY is the admin key, where Spillway has one.`;

const DEFAULT_URL = 'http://127.0.0.1:8080';

/** @throws Misuse; null: help is wanted. */
export function readCommandLine(
  words: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): SeedCommand | null {
  const { values, positionals } = parsed(words);
  if (values.help === true) return null;
  const [file, ...more] = positionals;
  if (file === undefined) throw new Misuse('name the file to seed from');
  if (more.length > 0) throw new Misuse(`one file at a time, not also ${more.join(' ')}`);
  const url = values.url ?? (env['SPILLWAY_URL'] || DEFAULT_URL);
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) throw new Misuse(`${url} is no http:// or https:// address`);
  if (file === '-' && values.estimate === '-') throw new Misuse('only one file can be standard input');
  return {
    file,
    url: url.replace(/\/+$/, ''),
    adminKey: env['SPILLWAY_ADMIN_KEY'] || null,
    route: values.route ?? null,
    key: values.key ?? null,
    fromLog: values['from-log'] === true,
    sample: values.estimate ?? null,
  };
}

function parsed(words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      allowPositionals: true,
      options: {
        route: { type: 'string' },
        key: { type: 'string' },
        url: { type: 'string' },
        'from-log': { type: 'boolean' },
        estimate: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw new Misuse(error instanceof Error ? error.message : String(error));
  }
}
