import type { Call, Usage } from '@spillway/contracts';

/** What of a call shapes how long it takes. */
export type TimedCall = Pick<Call, 'streaming' | 'operation'>;

/** How many tokens of input take as long as one of output: they are read together, and answers made one by one. */
const INPUT_PER_OUTPUT = 16;

/**
 * The kind and size of a call: calls of one are compared with each other only. A stream is timed to its first content,
 * which depends on what is read; a whole answer, on what is written. `reserved`: the prediction, for want of the usage.
 */
export function sizeOf({ streaming, operation }: TimedCall, usage: Usage | null, reserved: number): string {
  if (usage === null) return `${streaming ? 'first' : operation}?${octave(reserved)}`;
  if (streaming || operation === 'embeddings') return `${streaming ? 'first' : operation}${octave(usage.input)}`;
  return `${operation}${octave(usage.output + usage.input / INPUT_PER_OUTPUT)}`;
}

function octave(tokens: number): number {
  return Math.floor(Math.log2(Math.max(1, tokens)));
}
