import { readQuestion } from '@spillway/cache';
import { isJsonObject, type CacheRule, type JsonObject } from '@spillway/contracts';
import { BadLine, readSeed, type Seed } from './seed-line';
import type { LineFailure } from './seed-progress';

/** What a day's log holds for a seed. */
export interface LogQuestions {
  /** Lines of a seed, the most frequent question first. */
  readonly lines: readonly string[];
  /** Lines of the log with a question. */
  readonly asked: number;
  /** Lines that are left out, by the rule that refuses them; `none`: they ask nothing that can be compared. */
  readonly refused: ReadonlyMap<CacheRule | 'none', number>;
  readonly bad: readonly LineFailure[];
}

/** Where logs keep the request itself. */
const ENVELOPES = ['body', 'request'] as const;
/** Fields that say who asked, how the answer travelled and what it was. */
const NOT_ASKED = new Set(['answer', 'user', 'service_tier', 'stream', 'stream_options', 'metadata']);

/**
 * The questions of a log, each once however it was worded, without those whose answers hold for one caller or one
 * moment.
 */
export async function questionsOfLog(log: AsyncIterable<string> | Iterable<string>): Promise<LogQuestions> {
  const counts = new Map<string, { readonly line: string; times: number }>();
  const refused = new Map<CacheRule | 'none', number>();
  const bad: LineFailure[] = [];
  let number = 0;
  let asked = 0;
  for await (const text of log) {
    number++;
    if (text === '') continue;
    const read = readLogLine(text);
    if ('reason' in read) {
      bad.push({ line: number, reason: read.reason });
      continue;
    }
    asked++;
    const { key, refusedBy } = keyOf(read);
    if (key === null) refused.set(refusedBy ?? 'none', (refused.get(refusedBy ?? 'none') ?? 0) + 1);
    else {
      const known = counts.get(key);
      if (known === undefined) counts.set(key, { line: logLineAsSeed(text), times: 1 });
      else known.times++;
    }
  }
  const lines = Array.from(counts.values()).toSorted((one, other) => other.times - one.times);
  return { lines: lines.map(({ line }) => line), asked, refused, bad };
}

function readLogLine(text: string): Seed | { readonly reason: string } {
  try {
    return readSeed(logLineAsSeed(text));
  } catch (error) {
    if (!(error instanceof BadLine)) throw error;
    return { reason: error.message };
  }
}

/** What a line of a log asks; a line that cannot be read stays as it is. */
export function logLineAsSeed(text: string): string {
  const line = objectIn(text);
  if (line === null) return text;
  const { scope, route } = line;
  const request = ENVELOPES.map(name => line[name]).find(isJsonObject) ?? line;
  const asked = Object.entries({ ...request, scope, route }).filter(([name]) => !NOT_ASKED.has(name));
  return JSON.stringify(Object.fromEntries(asked));
}

function objectIn(text: string): JsonObject | null {
  try {
    const line: unknown = JSON.parse(text);
    return isJsonObject(line) ? line : null;
  } catch {
    return null;
  }
}

interface AskedQuestion {
  /** Equal for the same question of the same route and scope; null: it is not compared with others. */
  readonly key: string | null;
  readonly refusedBy: CacheRule | null;
}

function keyOf({ scope, route, request }: Seed): AskedQuestion {
  const identity = { namespace: '', scope, route: route ?? '', generation: '', beta: undefined, body: request };
  const { question, canonical, refusedBy } = readQuestion(identity, undefined);
  if (question === null || canonical === null) return { key: null, refusedBy };
  return { key: JSON.stringify([scope, route, question.fingerprint, canonical]), refusedBy };
}
