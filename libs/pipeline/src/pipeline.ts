import type { Answer, IncomingCall } from '@spillway/contracts';

/** The path of a call. */
export class Pipeline {
  constructor(
    /** Resolves once the first content of the answer is there. @throws SpillwayError */
    readonly run: (call: IncomingCall) => Promise<Answer>,
  ) {}
}
