import { reasonOfLoss } from '@spillway/redis';
import type { Logger } from '@spillway/telemetry';

/** Takes what went wrong where no call waits for it; `error` null: there was none. */
export type Report = (problem: string, error: unknown) => void;

/** Reports to the log; a lost Redis, which makes everything here fail, is reported once and elsewhere. */
export function reportTo(logger: Pick<Logger, 'warn'>): Report {
  return (problem, error) => {
    if (reasonOfLoss(error) === null) logger.warn(error === null ? {} : { err: error }, problem);
  };
}
