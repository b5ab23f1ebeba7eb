export { PRIORITIES, isPriority, lowerOf, rankOf, type Priority } from './priority';
export type { CallEnd, Outcome } from './outcome';
export { Clock, SystemClock } from './clock';
export { CallController, ControllerBelow, type CallSignal } from './call-signal';
export { isJsonObject, type JsonObject, type JsonValue } from './json';
export { exactJson, parseExactJson } from './exact-json';
export { CACHE_RULES, OTHER } from './settings';
export type {
  CacheRule,
  LimitSettings,
  ModelSettings,
  PrioritySettings,
  ProviderSettings,
  QualitySignal,
  RouteCacheSettings,
  RouteSettings,
} from './settings';
export {
  ownCaller,
  type Call,
  type Caller,
  type Controls,
  type CallIdentity,
  type IncomingCall,
  type KeyedCall,
  type Operation,
  type Question,
} from './call';
export { Journal, type AnswerDigest, type CallerLimit, type Degradation } from './journal';
export type { CacheTier, Decision, HedgeRefusal, PriorityControl, Resemblance } from './decision';
export type { Usage } from './usage';
export { chunkPart, partsOf, wholeOf, wholePart, type Answer, type AnswerPart, type AnswerParts } from './answer';
export { Recoveries } from './recoveries';
export type { Next, Stage } from './stage';
export {
  Turns,
  type CallWithTurn,
  type Observed,
  type ObservedBucket,
  type ObservedLimits,
  type Overload,
  type PlannedCall,
  type Turn,
  type TurnEnd,
} from './turns';
export {
  ClientGone,
  DeadlineExceeded,
  InvalidApiKey,
  InvalidRequest,
  MethodNotAllowed,
  ModelNotFound,
  NoModelAvailable,
  NotAllowed,
  NotCached,
  NotFound,
  PartLost,
  QueueFull,
  QueueTimeout,
  RateLimitExceeded,
  RefusedByModel,
  RequestTooLarge,
  ShuttingDown,
  SpillwayError,
  UnexpectedError,
  UpstreamAuthError,
  UpstreamError,
  UpstreamTimeout,
  allowsStandIn,
} from './errors';
export { CompletionAssembly, assembleCompletion, splitCompletion } from './completion';
export { withEnd } from './ended-parts';
export { textAnswer } from './text-answer';
export { Errands, type Errand, type ErrandEnd } from './errands';
