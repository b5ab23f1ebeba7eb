import { Injectable } from '@nestjs/common';
import {
  Clock,
  Journal,
  UnexpectedError,
  type IncomingCall,
  type Outcome,
  type SpillwayError,
} from '@spillway/contracts';
import { CallLog, Logger, Metrics, type ResponseDigest } from '@spillway/telemetry';

/** Every call ends in one outcome: counted here, and written to the log. */
@Injectable()
export class CallReport {
  constructor(
    private readonly metrics: Metrics,
    private readonly log: CallLog,
    private readonly logger: Logger,
    private readonly clock: Clock,
  ) {}

  ended(call: IncomingCall, outcome: Outcome, status: number, response: ResponseDigest): void {
    const durationMs = this.clock.now() - call.receivedAt;
    this.metrics.call(call.journal, outcome, durationMs / 1000);
    this.log.write(call, { outcome, status, durationMs, response });
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
}
