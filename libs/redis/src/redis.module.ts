import { Module, type DynamicModule, type FactoryProvider, type ModuleMetadata } from '@nestjs/common';
import { RedisChannels } from './redis-channels';
import { RedisConnections } from './redis-connections';
import { RedisGuard } from './redis-guard';
import type { RedisSettings } from './redis-settings';

interface RedisModuleOptions extends Pick<ModuleMetadata, 'imports'>, Pick<FactoryProvider, 'inject'> {
  /** Null: no Redis is configured; the three providers are then null as well. */
  readonly useFactory: (...injected: never[]) => RedisSettings | null;
}

/** Everything about connections to Redis, for the whole application. */
@Module({})
export class RedisModule {
  static forRootAsync({ imports = [], inject = [], useFactory }: RedisModuleOptions): DynamicModule {
    return {
      module: RedisModule,
      global: true,
      imports,
      providers: [
        {
          provide: RedisConnections,
          inject,
          useFactory: (...injected: never[]) => {
            const settings = useFactory(...injected);
            return settings && new RedisConnections(settings);
          },
        },
        {
          provide: RedisGuard,
          inject: [RedisConnections],
          useFactory: (connections: RedisConnections | null) => connections && new RedisGuard(connections),
        },
        {
          provide: RedisChannels,
          inject: [RedisConnections],
          useFactory: (connections: RedisConnections | null) => connections && new RedisChannels(connections),
        },
      ],
      exports: [RedisConnections, RedisGuard, RedisChannels],
    };
  }
}
