import type { ServerResponse } from 'node:http';
import { once } from 'node:events';
import { chunkPart, splitCompletion, type AnswerPart, type JsonObject } from '@spillway/contracts';

export const EVENT_STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

/**
 * Writes server-sent events to one caller, waiting where the caller reads slowly. While the model is silent it sends
 * comments, without an empty line after them: some clients take that for an event.
 */
export class EventStream {
  private readonly heartbeat: NodeJS.Timeout | null;

  constructor(
    private readonly response: ServerResponse,
    heartbeatMs: number,
  ) {
    this.heartbeat = heartbeatMs > 0 ? setInterval(() => this.response.write(': keep-alive\n'), heartbeatMs) : null;
  }

  /** One event; resolves when more may be written. */
  async send(data: string): Promise<void> {
    this.heartbeat?.refresh();
    if (this.response.write(`data: ${data}\n\n`) || this.response.destroyed) return;
    const { signal, abort } = waiting();
    await Promise.race([once(this.response, 'drain', { signal }), once(this.response, 'close', { signal })]);
    abort();
  }

  end(): void {
    this.stopHeartbeat();
    this.response.end();
  }

  stopHeartbeat(): void {
    if (this.heartbeat !== null) clearInterval(this.heartbeat);
  }
}

/** A way to take the listeners of a wait that is over off again. */
function waiting(): { signal: AbortSignal; abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

/** The parts of an answer as chunks for a caller that streams; the usage chunk only for one that asked for it. */
export async function* chunksOf(parts: AsyncIterable<AnswerPart>, wantsUsage: boolean): AsyncGenerator<AnswerPart> {
  for await (const part of parts) {
    if (part.kind === 'whole') {
      for (const chunk of splitCompletion(part.body, { includeUsage: wantsUsage })) yield chunkPart(chunk);
    } else if (wantsUsage || !isUsageChunk(part.body)) {
      yield part;
    }
  }
}

function isUsageChunk({ choices, usage }: JsonObject): boolean {
  return Array.isArray(choices) && choices.length === 0 && usage !== undefined && usage !== null;
}
