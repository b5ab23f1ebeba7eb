import type { Priority } from './priority';
import type { CacheRule, QualitySignal } from './settings';
import type { Usage } from './usage';

/** What found a cached answer. */
export type CacheTier = 'exact' | 'canonical' | 'semantic';

/** A question that was asked before, compared with another one. */
export interface Resemblance {
  /** Cosine of both, -1 to 1. */
  readonly score: number;
  /** Why its answer serves, or does not: `explained`, `negation`, `score` and the like, of a closed list. */
  readonly reason: string;
  /** `shadow`: it would have been served · `gone`: its answer is not kept any more. */
  readonly fate: 'served' | 'shadow' | 'refused' | 'gone';
}

/** What a caller's word for its class was, and what else can give a class. */
export type PriorityControl = 'path' | 'header' | 'service_tier';

/**
 * What one step of the path decided about a call, noted in the order in which it happened and shown as it is by
 * `GET /admin/explain`, but for what is null. Plain data: names and numbers, never a prompt, a key or an address. A new
 * kind needs no more than a member here and a stage that notes it; fields that end in `Ms` are rounded when shown.
 */
export type Decision =
  | ClassDecision
  | CallerLimitDecision
  | CacheDecision
  | CandidateDecision
  | CoalesceDecision
  | QueuedDecision
  | TurnDecision
  | NoTurnDecision
  | AttemptDecision
  | HedgeDecision
  | QualityDecision
  | CanaryDecision
  | SkippedDecision
  | StaleDecision
  | DeferredDecision
  | FallbackDecision;

interface ClassDecision {
  readonly kind: 'class';
  readonly priority: Priority;
  readonly by: PriorityControl | 'rule' | 'key';
  /** Position of the rule in `classify`, from 0. */
  readonly rule: number | null;
  /** What was asked for and is above what the key may use. */
  readonly loweredFrom: Priority | null;
  /** Milliseconds after receipt until which it may wait for a turn. */
  readonly maxWaitMs: number;
  /** Milliseconds after receipt until which it must be answered; 0: none. */
  readonly deadlineMs: number;
}

/** A limit of the key or of the end user refused the call. */
interface CallerLimitDecision {
  readonly kind: 'caller-limit';
  /** The label of `ratelimit_requests_rejected_total`. */
  readonly policy: string;
  /** Milliseconds until a call may fit again; null: when a call ends. */
  readonly inMs: number | null;
}

interface CacheDecision {
  readonly kind: 'cache';
  readonly tier: CacheTier;
  /** `shadow`: a hit, had the route answered it. */
  readonly result: 'hit' | 'miss' | 'shadow' | 'skipped';
  /** Why it was not looked into: what the caller or the route wants, or the rule that the question falls under. */
  readonly why: 'caller' | 'route' | 'operation' | CacheRule | null;
}

/** A question that was asked before and is near. */
interface CandidateDecision extends Resemblance {
  readonly kind: 'candidate';
}

interface CoalesceDecision {
  readonly kind: 'coalesce';
  readonly role: 'leads' | 'follows';
  /** The request id of the leader, or of the first that follows; null: it is in another process. */
  readonly with: string | null;
}

/** No permit was free at once. */
interface QueuedDecision {
  readonly kind: 'queued';
  /** Best first. */
  readonly models: readonly string[];
  /** Waits of the same or a higher class before it. */
  readonly ahead: number;
  /** The wait that was expected; null: nothing was known. */
  readonly estimateMs: number | null;
  /** What it kept of its deadline for the answer; 0: it has none, or nothing was known. */
  readonly answerMs: number;
  /** The limit that refused it the best model; `order`: others wait before it; null: it was not tried. */
  readonly binds: string | null;
}

interface TurnDecision {
  readonly kind: 'turn';
  readonly model: string;
  readonly waitMs: number;
  /** Who handed it out: all processes together, or this one alone. */
  readonly from: 'redis' | 'memory';
}

interface NoTurnDecision {
  readonly kind: 'no-turn';
  /** The code of the error that ended the wait. */
  readonly why: string;
  readonly waitMs: number;
}

/** One call of a model has ended. */
interface AttemptDecision {
  readonly kind: 'attempt';
  readonly model: string;
  /** As the metric `ai_request_total` has it: the status; where there was none the kind of failure, or what ended it. */
  readonly status: string;
  /** The kind of failure; null: it answered. */
  readonly failure: string | null;
  readonly ms: number;
  /** Of a stream, until its first content. */
  readonly firstContentMs: number | null;
  /** For how long the model asked to be left alone. */
  readonly retryAfterMs: number | null;
  readonly tokens: Usage | null;
}

/** Why a second model was not asked beside one that took long. */
export type HedgeRefusal =
  /** So many calls wait that classes are shed. */
  | 'high-load'
  /** No other model of the chain is well. */
  | 'not-well'
  /** Enough calls of the route have asked a second model. */
  | 'over-share'
  /** None of its permits is to spare. */
  | 'no-permit';

/** What came of asking a second model: it answered first, it did not, nobody answered; or why it was not asked. */
export type HedgeOutcome = 'won' | 'lost' | 'failed' | HedgeRefusal;

/** The model took longer than such calls usually do. */
interface HedgeDecision {
  readonly kind: 'hedge';
  /** The second model; null where none was chosen. */
  readonly model: string | null;
  /** Milliseconds from the call of the first model on. */
  readonly afterMs: number;
  /** Null: it was asked. */
  readonly refused: HedgeRefusal | null;
}

/** What was bad in the answer that a model gave. */
interface QualityDecision {
  readonly kind: 'quality';
  readonly model: string;
  readonly signals: readonly QualitySignal[];
}

/** How near the answer to a canary question is to the one that is known; both scores from 0 to 1. */
interface CanaryDecision {
  readonly kind: 'canary';
  readonly model: string;
  readonly score: number;
  /** The least that the question asks for. */
  readonly least: number;
}

/** A model of the chain that was not asked, or not before the others. */
interface SkippedDecision {
  readonly kind: 'skipped';
  readonly model: string;
  /**
   * `too-small`: its context window is no larger than that of a model for which the call was too long; `high-load`: the
   * class is shed to another; else how the model was.
   */
  readonly why: 'too-small' | 'high-load' | 'paused' | 'open' | 'half-open' | 'degraded';
}

/** A kept answer that has expired is the answer. */
interface StaleDecision {
  readonly kind: 'stale';
  readonly tier: CacheTier;
  /** The code of the error that it stands for. */
  readonly insteadOf: string;
}

/** The caller preferred a job to what is left when nobody can answer. */
interface DeferredDecision {
  readonly kind: 'deferred';
  /** The code of the error that it stands for. */
  readonly insteadOf: string;
}

/** The route's fallback text is the answer. */
interface FallbackDecision {
  readonly kind: 'fallback';
  /** The code of the error that it stands for. */
  readonly insteadOf: string;
}
