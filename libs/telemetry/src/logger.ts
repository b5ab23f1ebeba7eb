import { destination, levels, stdSerializers } from 'pino';

/** Structured log lines. Keys and prompts never go in. */
export abstract class Logger {
  abstract debug(fields: object, message?: string): void;
  abstract info(fields: object, message?: string): void;
  abstract warn(fields: object, message?: string): void;
  abstract error(fields: object, message?: string): void;
}

/** What lines go to. */
export interface LineSink {
  write(line: Buffer): void;
  /** Passes on what is buffered; `done` is called when that is written, or cannot be. */
  flush(done?: () => void): void;
}

/**
 * Lines are written together: a write wakes a thread, which takes as long as making a hundred lines. At most as much as
 * a pipe holds, and begun a little before that.
 */
const WRITTEN_BYTES = 65_536;
const TOGETHER_BYTES = 60_000;
const FLUSH_AFTER_MS = 50;

/**
 * Lines of JSON, made here: for the line of a call pino takes 14 µs, this 3, the writing included. Its destination and
 * its words for errors stay.
 */
export class JsonLines extends Logger {
  private flushing: NodeJS.Timeout | null = null;
  private threshold: number;
  private timeOf = -1;
  private time = '';

  constructor(
    level: string,
    private readonly sink: LineSink,
  ) {
    super();
    this.threshold = valueOf(level);
  }

  /** The least important level that is written; `silent`: none. */
  set level(level: string) {
    this.threshold = valueOf(level);
  }

  debug(fields: object, message?: string): void {
    this.write('debug', fields, message);
  }

  info(fields: object, message?: string): void {
    this.write('info', fields, message);
  }

  warn(fields: object, message?: string): void {
    this.write('warn', fields, message);
  }

  error(fields: object, message?: string): void {
    this.write('error', fields, message);
  }

  /**
   * Resolves when all lines so far are written, or cannot be. Before an exit: the flush there waits for ever for a reader
   * that is gone, which only a write before it finds out.
   */
  written(): Promise<void> {
    return new Promise(resolve => this.sink.flush(resolve));
  }

  private write(level: string, fields: object, message: string | undefined): void {
    if (valueOf(level) < this.threshold) return;
    let line = `{"level":"${level}","time":"${this.timeNow()}"`;
    const values = fields as Readonly<Record<string, unknown>>;
    for (const name in values) line += fieldOf(name, values[name]);
    if (message !== undefined) line += fieldOf('msg', message);
    // As bytes: joined as texts, one that is not Latin makes writing all of them three times as slow.
    this.sink.write(Buffer.from(`${line}}\n`));
    this.flushing ??= setTimeout(() => {
      this.flushing = null;
      this.sink.flush();
    }, FLUSH_AFTER_MS).unref();
  }

  /** In ISO 8601; lines of the same millisecond share the work. */
  private timeNow(): string {
    const now = Date.now();
    if (now !== this.timeOf) {
      this.timeOf = now;
      this.time = new Date(now).toISOString();
    }
    return this.time;
  }
}

/** JSON lines on standard output; buffered, so that a call never waits for its log line, and flushed at the exit. */
export function createLogger(level: string): JsonLines {
  const bounds = { minLength: TOGETHER_BYTES, maxWrite: WRITTEN_BYTES };
  const stdout = destination({ dest: 1, sync: false, contentMode: 'buffer', ...bounds });
  return new JsonLines(level, {
    // Its type knows of texts alone.
    write: line => stdout.write(line as unknown as string),
    flush: done => {
      // Whoever waits for the end of a flush has the file synchronised as well.
      if (done !== undefined) stdout.flush(() => done());
      // It closes by itself at the end of the process, and flushes before that.
      else if ((stdout as { destroyed?: boolean }).destroyed !== true) stdout.flush();
    },
  });
}

function valueOf(level: string): number {
  return levels.values[level] ?? Infinity;
}

/** What JSON text may have to escape: quotes, backslashes, control characters, halves of surrogate pairs. */
const SPECIAL = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;

function fieldOf(name: string, value: unknown): string {
  if (value === null) return `,"${name}":null`;
  switch (typeof value) {
    case 'undefined':
      return '';
    case 'string':
      return `,"${name}":${SPECIAL.test(value) ? JSON.stringify(value) : `"${value}"`}`;
    case 'number':
      return `,"${name}":${Number.isFinite(value) ? value : null}`;
    default:
      return `,"${name}":${JSON.stringify(name === 'err' ? errorOf(value) : value)}`;
  }
}

/** Other properties stay out: the errors of a client hold what it sent, such as a password or a prompt. */
function errorOf(thrown: unknown): unknown {
  if (!(thrown instanceof Error)) return thrown;
  const { type, message, stack } = stdSerializers.err(thrown);
  return { type, message, code: (thrown as NodeJS.ErrnoException).code, stack };
}
