import type { RedisConnections, RedisGuard } from '@spillway/redis';
import type { Logger } from '@spillway/telemetry';
import { keysOf, SCRIPTS } from './lua/scripts';

export interface LawParts {
  readonly connections: RedisConnections;
  readonly guard: RedisGuard;
  readonly logger?: Pick<Logger, 'error'>;
}

/**
 * The state of the limits that all processes share, and the scripts that change it. Its keys belong together: where some
 * of them were evicted, deleted by hand or overwritten, no script could ever go on, so they begin anew, as in a Redis
 * that comes back empty.
 */
export class SharedLaw {
  private readonly keys: readonly string[];

  constructor(
    private readonly redis: LawParts,
    prefix: string,
  ) {
    this.keys = keysOf(prefix);
  }

  /** @throws RedisUnavailable */
  run(name: keyof typeof SCRIPTS, values: readonly (string | number)[]): Promise<unknown> {
    return this.script(name, values).catch(async (error: unknown) => {
      if (!isComplaint(error)) throw error;
      this.redis.logger?.error({ err: error }, 'keys of the limits in Redis were lost or overwritten: all begin anew');
      await this.redis.guard.run(() => this.commands.del(...this.keys));
      return this.script(name, values);
    });
  }

  private script(name: keyof typeof SCRIPTS, values: readonly (string | number)[]): Promise<unknown> {
    return this.redis.guard.run(() => SCRIPTS[name].run(this.commands, this.keys, values));
  }

  private get commands(): ReturnType<RedisConnections['get']> {
    return this.redis.connections.get('commands');
  }
}

/** Whether it is a script that could not go on, and not Redis that cannot be used. */
function isComplaint(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError';
}
