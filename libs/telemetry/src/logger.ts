import { destination, pino } from 'pino';

/** Structured log lines. Keys and prompts never go in. */
export abstract class Logger {
  abstract debug(fields: object, message?: string): void;
  abstract info(fields: object, message?: string): void;
  abstract warn(fields: object, message?: string): void;
  abstract error(fields: object, message?: string): void;
}

/** Bytes that are written together, and milliseconds that a line waits for company at most. */
const TOGETHER_BYTES = 16_000;
const FLUSH_EVERY_MS = 50;

/** JSON lines on standard output, a few at a time: a write for every line costs as much as the call it tells of. */
export function createLogger(level: string): Logger & { level: string } {
  return pino(
    {
      level,
      base: undefined,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: label => ({ level: label }) },
    },
    destination({ dest: 1, sync: false, minLength: TOGETHER_BYTES, periodicFlush: FLUSH_EVERY_MS }),
  );
}
