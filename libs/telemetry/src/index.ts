export { CallLog, type CallEnd } from './call-log';
export { Logger, createLogger } from './logger';
export { Metrics, type ServiceState, type UpstreamCall } from './metrics';
export { ResponseDigest } from './response-digest';
export { TelemetryModule } from './telemetry.module';
