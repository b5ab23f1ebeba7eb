import { destination } from 'pino';

/** What lines go to. */
export interface LineSink {
  write(line: Buffer): void;
  /** Passes on what is buffered, as much of it as goes at once. */
  flush(): void;
  /** Passes on all that is buffered; `done` is called when that is written, or cannot be. */
  drain(done: () => void): void;
  /** Forgets what is not written; nothing is written any more. */
  close(): void;
}

/** At most as much as a pipe holds, and begun a little before that. */
const WRITTEN_BYTES = 65_536;
const TOGETHER_BYTES = 60_000;
/** Of lines that wait for a reader, or for room on a disk; what comes beyond is lost. */
const MOST_WAITING_BYTES = 16 * 1024 * 1024;

/**
 * Lines on the standard output of the process, written by another thread. Where they cannot be written they wait, within
 * bounds, and go on when they can: no log is worth the calls under way. What is left at an exit is written there and
 * then, which takes for ever where its reader is gone; `close` before the exit forgets it instead.
 */
export class StandardOutput implements LineSink {
  private readonly stream = destination({
    dest: 1,
    sync: false,
    contentMode: 'buffer',
    minLength: TOGETHER_BYTES,
    maxWrite: WRITTEN_BYTES,
    maxLength: MOST_WAITING_BYTES,
  });
  private unwrittenBytes = 0;
  private lostLines = 0;

  constructor() {
    this.stream.on('write', (bytes: number) => (this.unwrittenBytes -= bytes));
    this.stream.on('drop', (line: unknown) => this.lose(line as Buffer));
    // Such as a full disk; each flush tries again.
    this.stream.on('error', () => undefined);
  }

  write(line: Buffer): void {
    if (this.isClosed) return;
    if (this.lostLines > 0 && this.unwrittenBytes < MOST_WAITING_BYTES / 2) this.tellOfLoss();
    this.put(line);
  }

  private put(line: Buffer): void {
    this.unwrittenBytes += line.length;
    // Its type knows of texts alone.
    this.stream.write(line as unknown as string);
  }

  private lose(line: Buffer): void {
    this.unwrittenBytes -= line.length;
    this.lostLines += 1;
  }

  private tellOfLoss(): void {
    const fields = {
      level: 'error',
      time: new Date(),
      lines: this.lostLines,
      msg: 'lines of the log could not be written',
    };
    this.lostLines = 0;
    this.put(Buffer.from(`${JSON.stringify(fields)}\n`));
  }

  flush(): void {
    if (!this.isClosed) this.stream.flush();
  }

  /** A flush ends with the write that is under way, or with one of its own: what came meanwhile needs another. */
  drain(done: () => void): void {
    const before = this.unwrittenBytes;
    if (before === 0 || this.isClosed) return done();
    this.stream.flush(() => {
      if (this.unwrittenBytes < before) this.drain(done);
      else done();
    });
  }

  close(): void {
    this.stream.destroy();
  }

  /** It closes also by itself, when nothing keeps the process alive any more, and flushes before that. */
  private get isClosed(): boolean {
    return (this.stream as { destroyed?: boolean }).destroyed === true;
  }
}
