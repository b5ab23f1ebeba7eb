import { Controller, Get, Header, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { HealthReport } from '@spillway/health';
import { Scheduling } from '@spillway/scheduling';
import { Logger, Metrics, type ServiceState } from '@spillway/telemetry';
import { ModelStatuses } from './model-status';
import { Parts, type PartState } from './parts';
import { Reception } from './reception';

interface Readiness {
  readonly status: 'ok' | 'degraded' | 'shutting-down';
  readonly parts: Readonly<Record<string, PartState>>;
}

/** What machines watch. */
@Controller()
export class OperationsController {
  constructor(
    private readonly reception: Reception,
    private readonly parts: Parts,
    private readonly metrics: Metrics,
    private readonly scheduling: Scheduling,
    private readonly models: ModelStatuses,
    private readonly logger: Logger,
  ) {}

  @Get('livez')
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  @Get(['readyz', 'health'])
  ready(@Res({ passthrough: true }) reply: FastifyReply): Readiness {
    const parts = this.parts.states();
    if (!this.reception.isOpen) {
      void reply.code(503);
      return { status: 'shutting-down', parts };
    }
    return { status: Object.values(parts).includes('lost') ? 'degraded' : 'ok', parts };
  }

  @Get('metrics')
  @Header('content-type', 'text/plain; version=0.0.4; charset=utf-8')
  async expose(): Promise<string> {
    const health = this.models.allHealth();
    this.metrics.services({ ...breakersOf(this.parts.states()), ...statesIn(health) });
    this.metrics.canaries(scoresIn(health));
    try {
      this.metrics.depths(await this.scheduling.depths());
      this.metrics.models(await this.models.all());
    } catch (error) {
      this.logger.debug({ err: error }, 'queue gauges are not available');
    }
    return this.metrics.registry.metrics();
  }
}

function breakersOf(parts: Readonly<Record<string, PartState>>): Readonly<Record<string, ServiceState>> {
  return Object.fromEntries(Object.entries(parts).map(([part, state]) => [part, state === 'ok' ? 'closed' : 'open']));
}

function statesIn(health: Readonly<Record<string, HealthReport>>): Readonly<Record<string, ServiceState>> {
  return Object.fromEntries(Object.entries(health).map(([model, { state }]) => [model, state]));
}

function scoresIn(health: Readonly<Record<string, HealthReport>>): ReadonlyMap<string, number> {
  return new Map(
    Object.entries(health).flatMap(([model, { canary }]) =>
      canary === null || canary.score === null ? [] : [[model, canary.score]],
    ),
  );
}
