import type { Clock, SpillwayError } from '@spillway/contracts';
import type { Backlog, EntryState } from './backlog';
import type { Job } from './job';
import type { JobEnds } from './job-ends';

/** How a job ended. */
export type End = Pick<Job, 'status'> & Partial<Pick<Job, 'result' | 'error'>>;

/** What a queue of jobs stands on. */
export interface JobStores {
  readonly backlog: Backlog;
  readonly ends: JobEnds;
  readonly clock: Clock;
  /** Milliseconds after which a job is tried no more. */
  readonly oldestMs: () => number;
  /** Told of every end that was kept here. */
  readonly onEnd: (job: Job) => void;
  /** Told of every attempt that failed here, the last one too. */
  readonly onFailure: (job: Job, error: SpillwayError) => void;
}

/** A job that has no end yet. */
export function jobOf(kind: string, { entry, state, attempts, progress }: EntryState): Job {
  const { id, owner, createdAt } = entry;
  const begun = { id, kind, owner, createdAt, attempts, progress };
  return { ...begun, status: state, endedAt: null, result: null, error: null };
}

/** Keeps the end of a job, unless it has one already; resolves with the one that it has. */
export async function keepEnd({ ends, clock, onEnd }: JobStores, job: Job, end: End): Promise<Job> {
  const ended: Job = { ...job, ...end, endedAt: Math.round(clock.now()) };
  const first = await ends.first(ended);
  if (first === ended) onEnd(ended);
  return first;
}
