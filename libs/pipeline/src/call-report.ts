import { Injectable } from '@nestjs/common';
import {
  Clock,
  Journal,
  UnexpectedError,
  type IncomingCall,
  type Outcome,
  type SpillwayError,
} from '@spillway/contracts';
import { Explanations } from '@spillway/explain';
import { CallLog, Logger, Metrics, type ResponseDigest } from '@spillway/telemetry';

interface CallResult {
  readonly outcome: Outcome;
  readonly status: number;
  readonly code: string | null;
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

  answered(call: IncomingCall, outcome: Outcome, response: ResponseDigest): void {
    this.ended(call, { outcome, status: 200, code: null }, response);
  }

  /** `status`: what the caller was sent, which after the first content is no more the error's. */
  failed(call: IncomingCall, { outcome, code }: SpillwayError, status: number, response: ResponseDigest): void {
    this.ended(call, { outcome, status, code }, response);
  }

  /** A request that never became a call: nobody knows yet what it was about. */
  refused(requestId: string, error: SpillwayError): void {
    const { outcome, status, code } = error;
    this.metrics.call(new Journal(), outcome, 0);
    this.logger.info({ request_id: requestId, outcome, status, code });
  }

  /** A failure that nobody foresaw is worth its stack in the log. */
  unexpected(requestId: string, error: SpillwayError): void {
    if (error instanceof UnexpectedError) this.logger.error({ request_id: requestId, err: error.cause }, 'unexpected');
  }

  private ended(call: IncomingCall, { outcome, status, code }: CallResult, response: ResponseDigest): void {
    const durationMs = this.clock.now() - call.receivedAt;
    this.metrics.call(call.journal, outcome, durationMs / 1000);
    this.log.write(call, { outcome, status, code, durationMs, response });
    this.explanations.ended(call, { outcome, status, code, durationMs });
  }
}
