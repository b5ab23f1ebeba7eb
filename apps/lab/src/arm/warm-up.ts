import { setTimeout as sleep } from 'node:timers/promises';
import { messagesOf } from '../callers/caller';
import type { SpillwayProcess } from '../processes/spillway';
import type { SpillwayArm } from '../scenario/schema';
import { ROUTE } from '../scenario/settings';
import type { Question, QuestionPool } from '../workload/question-pool';

const LOOK_EVERY_MS = 250;
/** A minute: a busy machine makes Redis seem lost for a moment. */
const MOST_SILENT_LOOKS = 240;
/** Seeds at the same time: there is nobody whom they could keep waiting. */
const AT_ONCE = 200;

/** What Spillway is configured with while it is warmed. */
export const WARMING = { seeding: { concurrency: AT_ONCE } } as const;

/** Seeds everything that is known to be coming, so that the caches hold the answers. */
export async function warmUp(
  spillway: Pick<SpillwayProcess, 'sow' | 'seedStatus'>,
  pool: Pick<QuestionPool, 'common'>,
  { products, intents, texts }: NonNullable<SpillwayArm['prewarm']>,
): Promise<void> {
  const lines = [...pool.common(products, intents, texts)].map(lineOf);
  const id = await spillway.sow(ROUTE, `${lines.join('\n')}\n`);
  for (let silent = 0; silent < MOST_SILENT_LOOKS; await sleep(LOOK_EVERY_MS)) {
    const status = await spillway.seedStatus(id);
    silent = status === null ? silent + 1 : 0;
    if (status === null || status.state === 'queued' || status.state === 'running') continue;
    const { state, failed } = status;
    if (state === 'succeeded' && failed === 0) return;
    throw new Error(`Of ${lines.length} seeds ${failed} failed; the seed ${state}.`);
  }
  throw new Error('Spillway does not say any more how far its seeds are.');
}

function lineOf(question: Question): string {
  return JSON.stringify({ scope: question.scope, messages: messagesOf({ question }) });
}
