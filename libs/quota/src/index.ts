export { QuotaModule } from './quota.module';
export { Permits, type Entry, type Grant, type Reached, type TicketState, type WaitRequest } from './permits';
export { QuotaSettings, type GrowthSettings, type LimitName, type ModelLimits, type Shares } from './limits';
export { MemoryPermits } from './memory-permits';
export { RedisPermits } from './redis-permits';
export { PERMIT_TIMINGS, type PermitTimings } from './timings';
