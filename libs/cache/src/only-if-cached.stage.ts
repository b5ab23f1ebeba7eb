import { NotCached, type Answer, type KeyedCall, type Next, type Stage } from '@spillway/contracts';

/** Ends a call that wanted a kept answer or none, once all that look for kept answers have looked. */
export class OnlyIfCachedStage implements Stage<KeyedCall> {
  readonly name = 'only-if-cached';

  async handle(call: KeyedCall, next: Next<KeyedCall>): Promise<Answer> {
    if (call.controls.onlyIfCached) throw new NotCached('There is no kept answer to this.', { retryable: false });
    return next(call);
  }
}
