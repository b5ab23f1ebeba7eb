import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Frees all memory that nobody holds, a moment later: what was touched just now is held until then. */
export async function collectGarbage(): Promise<void> {
  await sleep(50);
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}
