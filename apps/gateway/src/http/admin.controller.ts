import { Controller, Delete, HttpCode, Post, Query } from '@nestjs/common';
import { CacheGenerations } from '@spillway/cache';
import { ConfigStore, ConfigurationError, describeProblem } from '@spillway/config';
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
      const problems = error.problems.map(describeProblem).join('; ');
      throw new InvalidRequest(`The configuration was not reloaded: ${problems}`, { cause: error });
    }
  }

  /** Forgets cached answers: all, or those of one route, one scope, or one scope of one route. */
  @Delete('cache')
  async clear(@Query() query: Readonly<Record<string, unknown>>): Promise<{ cleared: true }> {
    const { scope, route } = selectionOf(query);
    try {
      await this.cache.clear({ scope, route });
      return { cleared: true };
    } catch (error) {
      if (!(error instanceof RedisUnavailable)) throw error;
      throw new PartLost('Redis is lost: the cache that processes share cannot be cleared now.', { cause: error });
    }
  }
}

/** What a misspelt name or a repeated one would select is everything, so neither is taken. */
function selectionOf(query: Readonly<Record<string, unknown>>): { scope?: string; route?: string } {
  for (const [name, value] of Object.entries(query)) {
    const known = name === 'scope' || name === 'route';
    const message = known ? `${name} must be given once.` : 'Only scope and route select cached answers.';
    if (!known || typeof value !== 'string') throw new InvalidRequest(message, { param: name, retryable: false });
  }
  return query;
}
