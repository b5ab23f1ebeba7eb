import { Global, Module, type DynamicModule } from '@nestjs/common';
import { ConfigModule, type ConfigStore } from '@spillway/config';
import { Clock, Errands, SystemClock } from '@spillway/contracts';
import { ExplainModule } from '@spillway/explain';
import { RedisModule } from '@spillway/redis';
import { TelemetryModule, type Logger } from '@spillway/telemetry';
import { CallReport } from './call-report';
import { PipelineErrands } from './pipeline-errands';

/** What a process is started with: everything that is not decided inside. */
export interface Surroundings {
  readonly config: ConfigStore;
  readonly logger: Logger;
}

/** The environment of all libs, for the whole application: configuration, connections, metrics, logs and time. */
@Global()
@Module({})
export class EnvironmentModule {
  static forRoot({ config, logger }: Surroundings): DynamicModule {
    return {
      module: EnvironmentModule,
      imports: [
        ConfigModule.forRoot(config),
        ExplainModule,
        TelemetryModule.forRoot({ logger, snippets: () => config.current.log.snippets }),
        RedisModule.forRootAsync({
          useFactory: () => {
            const { url, prefix, timeout_ms: timeoutMs } = config.current.redis;
            return url === undefined || url === '' ? null : { url, prefix, timeoutMs };
          },
        }),
      ],
      providers: [
        { provide: Clock, useClass: SystemClock },
        CallReport,
        PipelineErrands,
        { provide: Errands, useExisting: PipelineErrands },
      ],
      exports: [Clock, CallReport, Errands, PipelineErrands],
    };
  }
}
