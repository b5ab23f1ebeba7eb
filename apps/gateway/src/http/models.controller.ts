import { Controller, HttpCode, Param, Post } from '@nestjs/common';
import { NotFound, PartLost } from '@spillway/contracts';
import { ModelHealth, type HealthReport } from '@spillway/health';
import { RedisUnavailable } from '@spillway/redis';
import { ModelStatuses } from './model-status';

/** How operators take models out of use and back; for all processes, and over restarts. Answers with the new state. */
@Controller('admin/models/:name')
export class ModelsController {
  constructor(
    private readonly health: ModelHealth,
    private readonly models: ModelStatuses,
  ) {}

  /** Nobody calls the model until it is resumed; calls under way end as they would. */
  @Post('pause')
  @HttpCode(200)
  pause(@Param('name') name: string): Promise<HealthReport> {
    return this.change(name, () => this.health.pause(name));
  }

  @Post('resume')
  @HttpCode(200)
  resume(@Param('name') name: string): Promise<HealthReport> {
    return this.change(name, () => this.health.resume(name));
  }

  /** Forgets how its calls went: it is closed, and measured afresh. A pause stays. */
  @Post('reset')
  @HttpCode(200)
  reset(@Param('name') name: string): Promise<HealthReport> {
    return this.change(name, () => this.health.reset(name));
  }

  private async change(name: string, change: () => Promise<void>): Promise<HealthReport> {
    this.reportOf(name);
    try {
      await change();
    } catch (error) {
      if (!(error instanceof RedisUnavailable)) throw error;
      throw new PartLost('Redis is lost: what processes share cannot be changed now.', { cause: error });
    }
    return this.reportOf(name);
  }

  private reportOf(name: string): HealthReport {
    const report = this.models.healthOf(name);
    if (report === undefined) throw new NotFound('No model of the configuration has this name.', { retryable: false });
    return report;
  }
}
