export { AnswerSample } from './quality/answer-sample';
export { QualityWatch } from './quality/quality-watch';
export { wantsJson, type InspectedAnswer } from './quality/signals';
export { HealthModule } from './health.module';
export { HealthStore, MemoryHealthStore, RedisHealthStore } from './health-store';
export { ModelHealth } from './model-health';
export { healthReport, type HealthReport } from './health-report';
export type { HealthState } from './model-record';
export type { Finding, Outcome } from './outcome';
