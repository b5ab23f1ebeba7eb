import type { BreakerSettings } from '../../libs/health/src/model-record';

/** A breaker as it is configured by default. */
export const BREAKER: BreakerSettings = {
  window_s: 60,
  min_requests: 20,
  degraded_error_rate: 0.15,
  open_error_rate: 0.5,
  consecutive_failures: 10,
  open_min_s: 1,
  open_max_s: 30,
};
