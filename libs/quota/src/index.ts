export { QuotaModule } from './quota.module';
export {
  Permits,
  type Entry,
  type Grant,
  type ModelReport,
  type TicketState,
  type WaitReport,
  type WaitRequest,
} from './permits';
export { QuotaSettings, type ModelLimits, type Shares } from './limits';
export { Ledger } from './ledger';
export { TermsBook } from './terms';
export { AdaptiveLimits } from './adaptive/adaptive-limits';
export { sizeOf } from './adaptive/sizes';
export { EffectiveLimits, type EffectiveReport } from './adaptive/effective-limits';
export { AlonePermits } from './alone-permits';
export { LocalShare } from './local-share';
export { MemoryPermits } from './memory-permits';
export { RedisPermits } from './redis-permits';
export { UseFollower } from './use-follower';
export type { PermitTimings } from './timings';
export {
  Budgets,
  grantsOf,
  type Admission,
  type AdmissionRequest,
  type BudgetLimit,
  type BudgetRefusal,
  type BudgetUse,
} from './budgets';
export type { BudgetSettings } from './budget-terms';
export { MemoryBudgets } from './memory-budgets';
export { RedisBudgets } from './redis-budgets';
export { LeaseKeeper } from './lease-keeper';
export { TicketIds, ownerOf } from './tickets';
export { TRAVEL_SPREAD_MS } from './shapes';
export { tokensOf } from './tokens';
export { ServiceTimes } from './estimation/service-times';
export { TokenEstimator, type EndOfCall } from './estimation/token-estimator';
export type { EstimateError } from './estimation/estimate-error';
