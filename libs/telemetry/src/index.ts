export { CallLog } from './call-log';
export { Logger, createLogger, type SharedFields } from './logger';
export { Metrics, type LookupCounts, type ServiceState, type UpstreamCall } from './metrics';
export { type Adds } from './tally';
export { randomHex, randomUuid } from './random-ids';
export { ResponseDigest } from './response-digest';
export { TelemetryModule } from './telemetry.module';
