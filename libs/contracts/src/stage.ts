import type { Answer } from './answer';
import type { Call } from './call';

export type Next<Out> = (call: Out) => Promise<Answer>;

/**
 * One step of a call's path: answers, or hands a call on and may look at the answer on its way back. What it hands on
 * is a copy with more in it, the new fields first: `{ turn, ...call }`. With them last the copy takes V8 thirty times
 * as long, 4 µs.
 */
export interface Stage<In = Call, Out = In> {
  readonly name: string;
  handle(call: In, next: Next<Out>): Promise<Answer>;
}
