import type { Answer } from './answer';
import type { Call } from './call';

export type Next<Out> = (call: Out) => Promise<Answer>;

/** One step of a call's path: answers, or hands a call on and may look at the answer on its way back. */
export interface Stage<In = Call, Out = In> {
  readonly name: string;
  handle(call: In, next: Next<Out>): Promise<Answer>;
}
