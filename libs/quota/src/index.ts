export { QuotaModule } from './quota.module';
export { Permits, type Entry, type Grant, type ModelReport, type TicketState, type WaitRequest } from './permits';
export { QuotaSettings, type ModelLimits, type Shares } from './limits';
export { MemoryPermits } from './memory-permits';
export { RedisPermits } from './redis-permits';
export type { PermitTimings } from './timings';
export { TokenEstimator } from './estimation/token-estimator';
export type { EstimateError } from './estimation/estimate-error';
