import { destination, pino } from 'pino';

/** Structured log lines. Keys and prompts never go in. */
export abstract class Logger {
  abstract debug(fields: object, message?: string): void;
  abstract info(fields: object, message?: string): void;
  abstract warn(fields: object, message?: string): void;
  abstract error(fields: object, message?: string): void;
}

/** JSON lines on standard output; buffered while the pipe is busy, so that a call never waits for its log line. */
export function createLogger(level: string): Logger & { level: string } {
  return pino(
    {
      level,
      base: undefined,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: label => ({ level: label }) },
    },
    destination({ dest: 1, sync: false }),
  );
}
