const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;
const SPACE = 0x20;
const DATA = Buffer.from('data');

/** Thrown for an event that is larger than anybody could mean. */
export class EventTooLarge extends Error {}

/**
 * Reads server-sent events from bytes as they come: any line ending, cut anywhere, also inside a character. Yields the
 * data of each event; comments, names and ids are skipped.
 */
export class EventParser {
  /** The beginning of a line whose end has not come yet. */
  private unfinished: Buffer[] = [];
  private unfinishedBytes = 0;
  /** The data lines of the event under way. */
  private data: string | null = null;
  private afterCarriageReturn = false;

  constructor(private readonly maxBytes: number) {}

  /** Takes the next bytes and returns the data of the events they complete. */
  push(bytes: Buffer): string[] {
    const events: string[] = [];
    const hasCarriageReturns = bytes.includes(CR);
    let start = 0;
    if (this.afterCarriageReturn && bytes.length > 0) {
      this.afterCarriageReturn = false;
      if (bytes[0] === LF) start = 1;
    }
    for (;;) {
      const end = hasCarriageReturns ? endOfLine(bytes, start) : bytes.indexOf(LF, start);
      if (end === -1) break;
      this.line(bytes, start, end, events);
      start = end + 1;
      if (bytes[end] !== CR) continue;
      if (start === bytes.length) this.afterCarriageReturn = true;
      else if (bytes[start] === LF) start++;
    }
    if (start < bytes.length) this.keep(start === 0 ? bytes : bytes.subarray(start));
    return events;
  }

  /** Takes the end of the bytes; some servers forget the last blank line. */
  finish(): string[] {
    const events: string[] = [];
    if (this.unfinishedBytes > 0) this.line(Buffer.alloc(0), 0, 0, events);
    this.dispatch(events);
    return events;
  }

  private keep(rest: Buffer): void {
    this.unfinished.push(rest);
    this.unfinishedBytes += rest.length;
    if (this.unfinishedBytes > this.maxBytes) throw new EventTooLarge();
  }

  private line(bytes: Buffer, start: number, end: number, events: string[]): void {
    if (this.unfinishedBytes > 0) {
      const whole = Buffer.concat([...this.unfinished, bytes.subarray(start, end)]);
      this.unfinished = [];
      this.unfinishedBytes = 0;
      this.field(whole, 0, whole.length);
    } else if (end === start) {
      this.dispatch(events);
    } else {
      this.field(bytes, start, end);
    }
  }

  private field(bytes: Buffer, start: number, end: number): void {
    const colon = start + DATA.length;
    if (bytes.compare(DATA, 0, DATA.length, start, Math.min(colon, end)) !== 0) return;
    if (colon < end && bytes[colon] !== COLON) return;
    const from = bytes[colon + 1] === SPACE ? colon + 2 : colon + 1;
    const value = from < end ? bytes.toString('utf8', from, end) : '';
    this.data = this.data === null ? value : `${this.data}\n${value}`;
    if (this.data.length > this.maxBytes) throw new EventTooLarge();
  }

  private dispatch(events: string[]): void {
    if (this.data !== null && this.data !== '') events.push(this.data);
    this.data = null;
  }
}

function endOfLine(bytes: Buffer, start: number): number {
  for (let index = start; index < bytes.length; index++) {
    if (bytes[index] === LF || bytes[index] === CR) return index;
  }
  return -1;
}
