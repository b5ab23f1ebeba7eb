import { RedisUnavailable } from '@spillway/redis';
import type { Logger } from '@spillway/telemetry';

/** Takes what went wrong where no call waits for it. */
export type Report = (problem: string, error: unknown) => void;

/** Reports to the log; a lost Redis, which makes everything here fail, is reported once and elsewhere. */
export function reportTo(logger: Logger): Report {
  return (problem, error) => {
    if (!isLossOfRedis(error)) logger.warn({ err: error }, problem);
  };
}

function isLossOfRedis(error: unknown): boolean {
  if (error instanceof RedisUnavailable) return true;
  const { syscall, message } = Object(error) as { syscall?: unknown; message?: unknown };
  return syscall !== undefined || /Connection is closed|isn't writeable/.test(String(message));
}
