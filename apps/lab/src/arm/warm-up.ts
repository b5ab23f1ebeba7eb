import type { Caller } from '../callers/caller';
import type { SpillwayArm } from '../scenario/schema';
import type { Question, QuestionPool } from '../workload/question-pool';

const AT_ONCE = 100;
const PATIENCE_MS = 30_000;

/** Asks everything that is known to be coming, as LOW calls, so that the caches hold the answers. */
export async function warmUp(
  caller: Caller,
  pool: QuestionPool,
  { products, intents, texts }: NonNullable<SpillwayArm['prewarm']>,
): Promise<void> {
  const questions = pool.common(products, intents, texts);
  const worker = async (): Promise<void> => {
    for (const question of questions) await ask(caller, question);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

async function ask(caller: Caller, question: Question): Promise<void> {
  const call = { ms: 0, load: 'warm-up', key: null, priority: 'low', question } as const;
  const reply = await caller.call(call, AbortSignal.timeout(PATIENCE_MS));
  if (reply.kind !== 'answer') throw new Error('A question of the warm-up was not answered.');
}
