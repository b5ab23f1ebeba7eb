import { Controller, HttpCode, NotFoundException, Param, Post } from '@nestjs/common';
import { NotFound, PartLost } from '@spillway/contracts';
import { ModelHealth, type HealthReport } from '@spillway/health';
import { RedisUnavailable } from '@spillway/redis';
import { ModelStatuses } from './model-status';

const ACTIONS = ['pause', 'resume', 'reset'] as const;

/** How operators take models out of use and back; for all processes, and over restarts. Answers with the new state. */
@Controller('admin/models')
export class ModelsController {
  constructor(
    private readonly health: ModelHealth,
    private readonly models: ModelStatuses,
  ) {}

  /**
   * Of a name, which may have slashes in it, and what is done. `pause`: nobody calls the model until it is resumed; calls
   * under way end as they would. `reset` forgets how its calls went: it is closed, and measured afresh; a pause stays.
   */
  @Post('*')
  @HttpCode(200)
  async change(@Param('*') path: string): Promise<HealthReport> {
    const action = ACTIONS.find(word => path.endsWith(`/${word}`));
    if (action === undefined) throw new NotFoundException();
    const name = path.slice(0, -action.length - 1);
    this.reportOf(name);
    try {
      await this.health[action](name);
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
