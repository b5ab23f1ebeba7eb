import type { IncomingHttpHeaders } from 'node:http';

const MOST_BODY_CHARS = 64 * 1024 * 1024;

/** A request as it came in, and how its connection ended. */
export interface LoggedRequest {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly model: string | null;
  readonly body: string;
  /** Status of the answer; null: none was begun. */
  status: number | null;
  /** When the answer was over or its connection closed; null: under way. */
  closed_at: number | null;
  /** Whether the whole answer was handed over. */
  finished: boolean;
}

/** The latest requests, bounded in number and in the size of their bodies. */
export class RequestLog {
  private entries: LoggedRequest[] = [];
  private chars = 0;

  constructor(private readonly mostEntries: number) {}

  add(entry: LoggedRequest): void {
    this.entries.push(entry);
    this.chars += entry.body.length;
    while (this.entries.length > this.mostEntries || (this.chars > MOST_BODY_CHARS && this.entries.length > 1)) {
      this.chars -= this.entries.shift()?.body.length ?? 0;
    }
  }

  of(model?: string): LoggedRequest[] {
    return this.entries.filter(entry => model === undefined || entry.model === model);
  }

  clear(): void {
    this.entries = [];
    this.chars = 0;
  }
}
