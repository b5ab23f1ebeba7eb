import { Controller, Delete, Get, HttpCode, Post, Query } from '@nestjs/common';
import { CacheGenerations } from '@spillway/cache';
import { ConfigStore, ConfigurationError } from '@spillway/config';
import { InvalidRequest, PartLost } from '@spillway/contracts';
import { ClockWatch } from '@spillway/providers';
import { RedisUnavailable } from '@spillway/redis';
import { Scheduling } from '@spillway/scheduling';
import { ModelStatuses } from './model-status';
import { Parts } from './parts';

/** What operators look at and turn; the doorkeeper has checked who they are. */
@Controller('admin')
export class AdminController {
  constructor(
    private readonly config: ConfigStore,
    private readonly scheduling: Scheduling,
    private readonly models: ModelStatuses,
    private readonly cache: CacheGenerations,
    private readonly parts: Parts,
    private readonly clocks: ClockWatch,
  ) {}

  @Get('status')
  async status(): Promise<object> {
    const [queues, models] = await Promise.all([this.scheduling.depths(), this.models.all()]);
    return { queues, models, parts: this.parts.states(), clockSkewMs: this.clocks.skews() };
  }

  /** The last good configuration stays where the new one has problems; the answer lists them. */
  @Post('reload')
  @HttpCode(200)
  reload(): object {
    try {
      return this.config.reload();
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      const problems = error.problems.map(({ path, message }) => `${path}: ${message}`);
      throw new InvalidRequest(`The configuration was not reloaded. ${problems.join(' ')}`, { cause: error });
    }
  }

  /** Forgets cached answers: all, or those of one route, one scope, or one scope of one route. */
  @Delete('cache')
  async clear(@Query('scope') scope?: string, @Query('route') route?: string): Promise<{ cleared: true }> {
    try {
      await this.cache.clear({ scope, route });
      return { cleared: true };
    } catch (error) {
      if (!(error instanceof RedisUnavailable)) throw error;
      throw new PartLost('Redis is lost: the cache that processes share cannot be cleared now.', { cause: error });
    }
  }
}
