/** What became of one line. */
export type LineEnd =
  | { readonly kind: 'blank' }
  /** An answer was there already. */
  | { readonly kind: 'hit' }
  | { readonly kind: 'generated'; readonly tokens: number }
  /** The answer that came with the line is kept. */
  | { readonly kind: 'stored' }
  | { readonly kind: 'failed'; readonly reason: string };

export type LineFailure = {
  /** From 1. */
  readonly line: number;
  readonly reason: string;
};

/** What a run has done so far; `done` is the sum of hits, generated, stored and failed. */
export type SeedCounts = {
  readonly done: number;
  readonly hits: number;
  readonly generated: number;
  readonly stored: number;
  readonly failed: number;
  /** Tokens of the generated answers, in and out. */
  readonly tokens: number;
};

/** All that a run needs to go on where it ended. Like its parts it is a type, not an interface, so that it is JSON. */
export type SeedCheckpoint = SeedCounts & {
  /** Lines before this one (from 0) are done. */
  readonly cursor: number;
  /** Lines after it that are done too. */
  readonly ahead: readonly number[];
  /** The first ones only. */
  readonly failures: readonly LineFailure[];
};

/** Failures that are kept with their reason; the others are only counted. */
const MOST_FAILURES = 1_000;

export const NOTHING_DONE: SeedCheckpoint = {
  done: 0,
  hits: 0,
  generated: 0,
  stored: 0,
  failed: 0,
  tokens: 0,
  cursor: 0,
  ahead: [],
  failures: [],
};

/** The progress after one more line (from 0) has ended. */
export function advance(progress: SeedCheckpoint, line: number, end: LineEnd): SeedCheckpoint {
  return { ...count(progress, line, end), ...move(progress, line) };
}

export function isDone({ cursor, ahead }: SeedCheckpoint, line: number): boolean {
  return line < cursor || ahead.includes(line);
}

function move({ cursor, ahead }: SeedCheckpoint, line: number): Pick<SeedCheckpoint, 'cursor' | 'ahead'> {
  const waiting = new Set(ahead).add(line);
  let next = cursor;
  while (waiting.delete(next)) next++;
  return { cursor: next, ahead: Array.from(waiting) };
}

function count(progress: SeedCheckpoint, line: number, end: LineEnd): SeedCheckpoint {
  const { done, hits, generated, stored, failed, tokens, failures } = progress;
  switch (end.kind) {
    case 'blank':
      return progress;
    case 'hit':
      return { ...progress, done: done + 1, hits: hits + 1 };
    case 'generated':
      return { ...progress, done: done + 1, generated: generated + 1, tokens: tokens + end.tokens };
    case 'stored':
      return { ...progress, done: done + 1, stored: stored + 1 };
    case 'failed': {
      const told = failures.length < MOST_FAILURES ? [...failures, { line: line + 1, reason: end.reason }] : failures;
      return { ...progress, done: done + 1, failed: failed + 1, failures: told };
    }
    default:
      return end satisfies never;
  }
}
