import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { ConfigStore, type ConfiguredModel } from '@spillway/config';
import { Clock, Turns } from '@spillway/contracts';
import { ModelHealth } from '@spillway/health';
import { UpstreamFailure } from '@spillway/providers';
import { ModelCaller } from './model-caller';
import { probeCall } from './probe-call';

/** So long a probe waits for its turn, ms. */
const TURN_MS = 1_000;

/**
 * What a probe of our own has come to: its end was reported as that of any call; the model did not like the question,
 * but it is there; it took too long; or there was no turn for it.
 */
export type ProbeEnd = 'told' | 'alive' | 'late' | 'not-made';

/** Makes the calls that probe a model where no caller's does: tiny, as LOW, under a permit of the model. */
@Injectable()
export class ProbeCalls {
  constructor(
    private readonly config: ConfigStore,
    private readonly health: ModelHealth,
    private readonly turns: Turns,
    private readonly caller: ModelCaller,
    private readonly clock: Clock,
  ) {}

  /** Never fails. */
  async make(model: ConfiguredModel, withinMs: number, stopped: AbortSignal): Promise<ProbeEnd> {
    const route = this.config.current.target(model.name);
    if (route === undefined) return 'not-made';
    const late = AbortSignal.timeout(withinMs);
    const { operation } = this.health.recordOf(model.name);
    const receivedAt = this.clock.now();
    const call = probeCall(model, route, {
      id: `probe-${randomBytes(8).toString('hex')}`,
      operation,
      signal: AbortSignal.any([late, stopped]),
      receivedAt,
      turnBy: receivedAt + TURN_MS,
    });
    const turn = await this.turns.take(call, [model]).catch(() => null);
    if (turn === null) return 'not-made';
    try {
      const parts = await this.caller.call(call, turn);
      for await (const part of parts) void part;
      return 'told';
    } catch (error) {
      if (late.aborted) return 'late';
      if (!(error instanceof UpstreamFailure)) return 'not-made';
      return error.family === 'refusal' && error.health.effect === 'none' ? 'alive' : 'told';
    }
  }
}
