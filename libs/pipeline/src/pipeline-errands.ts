import { Injectable } from '@nestjs/common';
import { parseControls } from '@spillway/classify';
import {
  CallController,
  Clock,
  Errands,
  Journal,
  ShuttingDown,
  SpillwayError,
  UnexpectedError,
  wholeOf,
  type Errand,
  type ErrandEnd,
  type IncomingCall,
} from '@spillway/contracts';
import { ResponseDigest, randomHex, randomUuid } from '@spillway/telemetry';
import { CallReport } from './call-report';
import type { Pipeline } from './pipeline';

/** Errands along the list of this process. */
@Injectable()
export class PipelineErrands extends Errands {
  private pipeline: Pipeline | null = null;

  constructor(
    private readonly clock: Clock,
    private readonly report: CallReport,
  ) {
    super();
  }

  /** Which path to walk; known only once all stages are made, some of which send errands. */
  walk(pipeline: Pipeline): void {
    this.pipeline = pipeline;
  }

  async run(errand: Errand): Promise<ErrandEnd> {
    if (this.pipeline === null) throw new ShuttingDown('This process does not call models.');
    const call = callFor(errand, this.clock.now());
    const digest = new ResponseDigest();
    this.report.began(call);
    try {
      const { outcome, parts } = await this.pipeline.run(call);
      const { body } = await wholeOf(parts);
      if (call.journal.digest === null) digest.add(body);
      call.journal.outcome = outcome;
      this.report.answered(call, outcome, digest);
      return { body, outcome, journal: call.journal };
    } catch (thrown) {
      const error = call.signal.aborted ? errorOf(call.signal.reason) : errorOf(thrown);
      this.report.failed(call, error, error.status, digest);
      this.report.unexpected(call.id, error);
      throw error;
    }
  }
}

function callFor(errand: Errand, now: number): IncomingCall {
  const { body, caller, priority, headers = {}, given, id, traceId, signal } = errand;
  const { stream: _, stream_options: __, ...asked } = body;
  return {
    id: id ?? randomUuid(),
    traceId: traceId ?? randomHex(),
    operation: 'chat',
    receivedAt: now,
    body: asked,
    streaming: false,
    headers,
    caller,
    controls: parseControls(priority ?? null, headers, asked),
    // Not one for all: whoever listens to a signal may forget to stop.
    signal: signal ?? new CallController(),
    journal: new Journal(),
    given,
  };
}

function errorOf(thrown: unknown): SpillwayError {
  if (thrown instanceof SpillwayError) return thrown;
  return new UnexpectedError('Something unexpected went wrong here.', { cause: thrown });
}
