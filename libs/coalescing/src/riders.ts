import {
  QueueFull,
  QueueTimeout,
  partsOf,
  rankOf,
  type Answer,
  type AnswerPart,
  type CallController,
  type Journal,
  type KeyedCall,
  type Next,
  type Outcome,
} from '@spillway/contracts';

/** When nothing is known of the wait, a new try after a second is no burden. */
const RETRY_AFTER_MS = 1_000;

/** A call that waits for the answer of a flight. */
export interface Rider {
  readonly call: KeyedCall;
  readonly next: Next<KeyedCall>;
  readonly resolve: (answer: Answer | Promise<Answer>) => void;
  readonly reject: (error: unknown) => void;
}

/** The work itself: what one call of the flight, its leader, asks of the stages below for all of them. */
export interface Run {
  readonly leader: Rider;
  /** What happens on behalf of all; the leader's own journal belongs to the leader, who may leave. */
  readonly journal: Journal;
  readonly controller: CallController;
}

/** What is known of a leader that may have gone. */
export type Leader = Pick<KeyedCall, 'id' | 'journal'>;

export function leaderOf({ leader: { call } }: Run): Leader {
  return { id: call.id, journal: call.journal };
}

/** Whether a model has been called, here or by the process that leads: the wait for a turn is over. */
export function isCalling({ attempts, cache }: Journal): boolean {
  return attempts > 0 || cache === 'COALESCED';
}

export function tooLate(): QueueTimeout {
  return new QueueTimeout('No turn came within the time this call may wait.', { retryAfterMs: RETRY_AFTER_MS });
}

/** Whether another call of the flight may fare better. */
export function isOfLeader(error: unknown): boolean {
  return error instanceof QueueFull || error instanceof QueueTimeout;
}

/** The first of the highest class. */
export function bestOf(riders: ReadonlySet<Rider>): Rider | null {
  let best: Rider | null = null;
  for (const rider of riders) {
    if (best === null || rankOf(rider.call.priority) < rankOf(best.call.priority)) best = rider;
  }
  return best;
}

/** What was done for all counts for the leader. */
export function noteWork(journal: Journal, work: Journal): void {
  const { cache, attempts, queueMs, model, upstreamMs, firstContentMs, limitsAreLocal, usage, saved } = work;
  const { hedge, degraded } = work;
  const asked = { attempts, queueMs, model, upstreamMs, firstContentMs, hedge, limitsAreLocal };
  const facts = { cache, degraded, usage, saved, ...asked };
  Object.assign(journal, facts satisfies Partial<Journal>);
}

/** What the others have of it. */
export function noteShare(journal: Journal, { model, degraded, usage, saved }: Journal): void {
  Object.assign(journal, { cache: 'COALESCED', model, degraded, saved: usage ?? saved } satisfies Partial<Journal>);
}

/** Why the one has the answer of the other. */
export function noteFollower({ call }: Rider, leader: Leader): void {
  call.journal.note({ kind: 'coalesce', role: 'follows', with: leader.id });
}

/** The first that follows is named; how many come is of no concern to a leader. */
export function noteLeader({ journal }: Leader, follower: Rider): void {
  journal.note({ kind: 'coalesce', role: 'leads', with: follower.call.id });
}

/** The same answer for a caller that does not stream: it exists only when all of it is there. */
export async function collected(outcome: Outcome, parts: AsyncIterable<AnswerPart>): Promise<Answer> {
  const all: AnswerPart[] = [];
  for await (const part of parts) all.push(part);
  return { outcome, parts: partsOf(...all) };
}
