import { Controller, Delete, HttpCode, Post, Query } from '@nestjs/common';
import { CacheGenerations } from '@spillway/cache';
import { ConfigStore, ConfigurationError, describeProblem } from '@spillway/config';
import { InvalidRequest, PartLost } from '@spillway/contracts';
import { RedisUnavailable } from '@spillway/redis';
import { parametersOf } from './query';

/** What operators turn; the doorkeeper has checked who they are. */
@Controller('admin')
export class AdminController {
  constructor(
    private readonly config: ConfigStore,
    private readonly cache: CacheGenerations,
  ) {}

  /** The last good configuration stays where the new one has problems; the answer lists them. */
  @Post('reload')
  @HttpCode(200)
  reload(): object {
    try {
      return this.config.reload();
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      const problems = error.problems.map(describeProblem).join('; ');
      throw new InvalidRequest(`The configuration was not reloaded: ${problems}`, { cause: error });
    }
  }

  /** Forgets cached answers: all, or those of one route, one scope, or one scope of one route. */
  @Delete('cache')
  async clear(@Query() query: Readonly<Record<string, unknown>>): Promise<{ cleared: true }> {
    const { scope, route } = parametersOf(query, ['scope', 'route']);
    try {
      await this.cache.clear({ scope, route });
      return { cleared: true };
    } catch (error) {
      if (!(error instanceof RedisUnavailable)) throw error;
      throw new PartLost('Redis is lost: the cache that processes share cannot be cleared now.', { cause: error });
    }
  }
}
