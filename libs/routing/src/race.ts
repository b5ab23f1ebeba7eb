import type { AnswerParts, ModelSettings } from '@spillway/contracts';
import { UpstreamFailure } from '@spillway/providers';
import { Outrun } from './attempt-end';
import type { FailedModel } from './failures';

/** What came of asking a model, or two. */
export type Ran =
  | { readonly kind: 'answered'; readonly model: ModelSettings; readonly parts: AnswerParts }
  /** In the order in which they failed. */
  | { readonly kind: 'failed'; readonly failures: readonly FailedModel[] };

/** What came of one of two. */
type LaneEnd = Ran | { readonly kind: 'outrun' };

/** A call of a model up to its first content, or its failure. @throws the reason of its signal. */
export async function ranBy(model: ModelSettings, parts: Promise<AnswerParts>): Promise<Ran> {
  try {
    return { kind: 'answered', model, parts: await parts };
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    return { kind: 'failed', failures: [{ model, failure: error }] };
  }
}

/** The answer that one of two models gave, or the failures of both. */
export async function firstAnswer(one: Promise<Ran>, other: Promise<Ran>): Promise<Ran> {
  const [first, second] = [laneEnd(one), laneEnd(other)];
  const { end, left } = await Promise.race([
    first.then(end => ({ end, left: second })),
    second.then(end => ({ end, left: first })),
  ]);
  if (end.kind === 'answered') return end;
  const later = await left;
  if (later.kind === 'answered') return later;
  return { kind: 'failed', failures: [end, later].flatMap(lane => (lane.kind === 'failed' ? lane.failures : [])) };
}

function laneEnd(ran: Promise<Ran>): Promise<LaneEnd> {
  return ran.catch((error: unknown) => {
    if (error instanceof Outrun) return { kind: 'outrun' };
    throw error;
  });
}

/** Whether something takes longer than so many milliseconds; told as soon as it is known. */
export async function outlasts(work: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>(resolve => {
    timer = setTimeout(() => resolve(true), ms);
  });
  try {
    return await Promise.race([work.then(() => false), late]);
  } finally {
    clearTimeout(timer);
  }
}
