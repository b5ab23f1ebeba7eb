import { Controller, Get } from '@nestjs/common';
import { ClockWatch } from '@spillway/providers';
import { Scheduling } from '@spillway/scheduling';
import { CacheStatuses } from './cache-status';
import { ModelStatuses } from './model-status';
import { Parts } from './parts';

/** What goes on, at one look. */
@Controller('admin/status')
export class StatusController {
  constructor(
    private readonly scheduling: Scheduling,
    private readonly models: ModelStatuses,
    private readonly caches: CacheStatuses,
    private readonly parts: Parts,
    private readonly clocks: ClockWatch,
  ) {}

  @Get()
  async status(): Promise<object> {
    const [queues, models, caches] = await Promise.all([
      this.scheduling.depths(),
      this.models.all(),
      this.caches.report(),
    ]);
    return { queues, models, caches, parts: this.parts.states(), clockSkewMs: this.clocks.skews() };
  }
}
