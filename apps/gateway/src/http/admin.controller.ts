import { Controller, Delete, HttpCode, Post, Query } from '@nestjs/common';
import { CacheGenerations } from '@spillway/cache';
import { ConfigStore, ConfigurationError } from '@spillway/config';
import { InvalidRequest, PartLost } from '@spillway/contracts';
import { RedisUnavailable } from '@spillway/redis';

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
