export { Providers } from './providers';
export { ProvidersModule } from './providers.module';
export { UpstreamFailure, type FailureFamily, type FailureKind } from './upstream-failure';
export { type UpstreamAnswer } from './upstream-call';
export { hasContent } from './content';
export { ClockWatch } from './clock-watch';
export { observedLimits } from './rate-limits';
