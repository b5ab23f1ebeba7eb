import type { Answer, IncomingCall, Stage } from '@spillway/contracts';

/** A stage whatever it takes and hands on; the order of the list makes sure that it gets what it needs. */
type AnyStage = Stage<never, never>;

/** Makes one function of an ordered list: each stage answers, or calls the next one. */
export function compose(stages: readonly AnyStage[]): (call: IncomingCall) => Promise<Answer> {
  const from = (position: number): ((call: never) => Promise<Answer>) => {
    const stage = stages[position];
    if (stage === undefined) return () => Promise.reject(new Error('The last stage must answer.'));
    const next = from(position + 1);
    return call => stage.handle(call, next);
  };
  return from(0) as (call: IncomingCall) => Promise<Answer>;
}
