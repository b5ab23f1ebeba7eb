import { Injectable } from '@nestjs/common';
import {
  Clock,
  Journal,
  UnexpectedError,
  type CallEnd,
  type CallIdentity,
  type IncomingCall,
  type Outcome,
  type SpillwayError,
} from '@spillway/contracts';
import { Explanations, factsOf, type CallFacts } from '@spillway/explain';
import { CallLog, Logger, Metrics, type Adds, type ResponseDigest, type SharedFields } from '@spillway/telemetry';

/** All that calls have in common that end alike: what counts them, and what is told of each. */
export interface Ending {
  readonly counted: Adds;
  readonly logged: SharedFields;
  readonly explained: CallFacts;
}

/** Every call ends in one outcome: counted here, written to the log, and kept for whoever asks why. */
@Injectable()
export class CallReport {
  constructor(
    private readonly metrics: Metrics,
    private readonly log: CallLog,
    private readonly logger: Logger,
    private readonly explanations: Explanations,
    private readonly clock: Clock,
  ) {}

  /** A call is under way; it ends by `answered` or `failed`. */
  began(call: IncomingCall): void {
    this.explanations.began(call);
  }

  /** Returns what an equal call that is given the same answer ends with. */
  answered(call: IncomingCall, outcome: Outcome, response: ResponseDigest): Ending {
    const ending = this.ending(call, { outcome, status: 200, code: null }, response);
    this.ended(call, ending);
    return ending;
  }

  /** `status`: what the caller was sent, which after the first content is no more the error's. */
  failed(call: IncomingCall, { outcome, code }: SpillwayError, status: number, response: ResponseDigest): void {
    this.ended(call, this.ending(call, { outcome, status, code }, response));
  }

  /** A call has ended, for one that was answered before as `answered` said. */
  ended(call: CallIdentity, { counted, logged, explained }: Ending): void {
    const durationMs = this.clock.now() - call.receivedAt;
    counted.add(durationMs / 1000);
    this.log.write(call, durationMs, logged);
    this.explanations.ended(call, explained, durationMs);
  }

  /** A request that never became a call: nobody knows yet what it was about. */
  refused(requestId: string, error: SpillwayError): void {
    const { outcome, status, code } = error;
    this.metrics.calls(new Journal(), outcome).add(0);
    this.logger.info({ request_id: requestId, outcome, status, code });
  }

  /** A failure that nobody foresaw is worth its stack in the log. */
  unexpected(requestId: string, error: SpillwayError): void {
    if (error instanceof UnexpectedError) this.logger.error({ request_id: requestId, err: error.cause }, 'unexpected');
  }

  private ending(call: IncomingCall, end: CallEnd, response: ResponseDigest): Ending {
    return {
      counted: this.metrics.calls(call.journal, end.outcome),
      logged: this.log.factsOf(call, end, response),
      explained: factsOf(call, end),
    };
  }
}
