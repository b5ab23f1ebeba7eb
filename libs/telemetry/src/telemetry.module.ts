import { Global, Module, type DynamicModule } from '@nestjs/common';
import { CallLog } from './call-log';
import { Logger } from './logger';
import { Metrics } from './metrics';

export interface TelemetryOptions {
  readonly logger: Logger;
  /** Whether log lines show the first and last characters of answers; asked for every line. */
  readonly snippets: () => boolean;
}

@Global()
@Module({})
export class TelemetryModule {
  static forRoot({ logger, snippets }: TelemetryOptions): DynamicModule {
    return {
      module: TelemetryModule,
      providers: [
        Metrics,
        { provide: Logger, useValue: logger },
        { provide: CallLog, useValue: new CallLog(logger, snippets) },
      ],
      exports: [Metrics, Logger, CallLog],
    };
  }
}
