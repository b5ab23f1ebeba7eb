export { PRIORITIES, isPriority, lowerOf, rankOf, type Priority } from './priority';
export { OUTCOMES, type Outcome } from './outcome';
export { Clock, SystemClock } from './clock';
export { isJsonObject, type JsonObject, type JsonValue } from './json';
export type {
  LimitSettings,
  ModelSettings,
  PrioritySettings,
  ProviderSettings,
  RouteCacheSettings,
  RouteSettings,
} from './settings';
export type { Call, Caller, Controls, IncomingCall, Operation } from './call';
export { Journal, type AnswerDigest, type CacheStatus, type Degradation, type Usage } from './journal';
export { chunkPart, partsOf, wholePart, type Answer, type AnswerPart } from './answer';
export type { Next, Stage } from './stage';
export { Turns, type CallWithTurn, type Turn, type TurnEnd } from './turns';
export {
  ClientGone,
  DeadlineExceeded,
  InvalidApiKey,
  InvalidRequest,
  ModelNotFound,
  NoModelAvailable,
  NotAllowed,
  NotFound,
  PartLost,
  QueueFull,
  QueueTimeout,
  RefusedByModel,
  RequestTooLarge,
  ShuttingDown,
  SpillwayError,
  UnexpectedError,
  UpstreamAuthError,
  UpstreamError,
  UpstreamTimeout,
  type ErrorBody,
} from './errors';
export { CompletionAssembly, assembleCompletion, splitCompletion } from './completion';
