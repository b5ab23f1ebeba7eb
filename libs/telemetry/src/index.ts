export { CallLog } from './call-log';
export { Logger, createLogger } from './logger';
export { Metrics, type LookupCounts, type UpstreamCall } from './metrics';
export { ResponseDigest } from './response-digest';
export { TelemetryModule } from './telemetry.module';
