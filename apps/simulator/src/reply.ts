import type { ServerResponse } from 'node:http';

/** How an exchange ended: whole, broken off by the simulator on purpose, or left by its caller. */
type ReplyEnd = 'finished' | 'broken' | 'left';

const MS_FOR_WRITES_TO_LEAVE = 20;

/** The answer under way: writes respect back-pressure, and every wait ends when the caller leaves. */
export class Reply {
  private wake: (() => void) | null = null;
  private settled = false;

  constructor(
    private readonly response: ServerResponse,
    /** Called once, before the last byte goes out: a caller that has read its answer holds no slot any more. */
    private readonly onEnd: (end: ReplyEnd) => void = () => {},
  ) {
    response.once('close', () => {
      this.settle('left');
      this.wake?.();
    });
  }

  /** False after the end, whoever ended it. */
  get open(): boolean {
    return !this.settled;
  }

  head(status: number, headers: Readonly<Record<string, string>>): void {
    this.response.writeHead(status, headers);
  }

  async write(data: string | Buffer): Promise<void> {
    if (!this.open || this.response.write(data)) return;
    await this.wait(resume => this.response.once('drain', resume));
  }

  /** Sends the headers now, even if no content follows for long. */
  flushHead(): void {
    this.response.flushHeaders();
  }

  end(data?: string | Buffer): void {
    if (!this.open) return;
    this.settle('finished');
    this.response.end(data);
  }

  /** Waits until what was written is with the caller: a reset would overtake it. */
  letWritesLeave(): Promise<void> {
    return this.pause(MS_FOR_WRITES_TO_LEAVE);
  }

  /** Breaks the connection with a reset. */
  reset(): void {
    this.settle('broken');
    this.response.socket?.resetAndDestroy();
  }

  /** Closes the connection without more words. */
  cutOff(): void {
    this.settle('broken');
    this.response.socket?.destroy();
  }

  /** Closes the connection some time after the answer, as servers do with idle ones. */
  cutOffAfter(ms: number): void {
    const socket = this.response.socket;
    setTimeout(() => socket?.destroy(), ms).unref();
  }

  /** Milliseconds of real time. */
  async pause(ms: number): Promise<void> {
    if (!this.open || ms <= 0) return;
    let timer: NodeJS.Timeout | undefined;
    await this.wait(resume => (timer = setTimeout(resume, ms)));
    clearTimeout(timer);
  }

  private wait(start: (resume: () => void) => void): Promise<void> {
    return new Promise(resolve => {
      this.wake = resolve;
      start(resolve);
    });
  }

  private settle(end: ReplyEnd): void {
    if (this.settled) return;
    this.settled = true;
    this.onEnd(end);
  }
}
