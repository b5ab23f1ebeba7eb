import type { Socket } from 'node:net';
import { Redis } from 'ioredis';

/**
 * Sends what is asked in one turn of the event loop in one write, which costs more than making and reading a command.
 * Unlike with pipelines every reply counts when it comes: a burst is not silent until its last one.
 */
export class GatheringRedis extends Redis {
  private gathering: Socket | null = null;

  override sendCommand(...command: Parameters<Redis['sendCommand']>): unknown {
    this.gather();
    return super.sendCommand(...command);
  }

  private gather(): void {
    // Null before the first connection.
    const stream = this.stream as Socket | null;
    if (stream === null || stream === this.gathering) return;
    this.gathering = stream;
    stream.cork();
    setImmediate(() => {
      this.gathering = null;
      stream.uncork();
    });
  }
}
