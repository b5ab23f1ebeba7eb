import { Module, type DynamicModule } from '@nestjs/common';
import { EnvironmentModule, PipelineModule, type Surroundings } from '@spillway/pipeline';
import { OperationsModule } from '../../gateway/src/operations.module';

@Module({})
export class WorkerModule {
  static forRoot(surroundings: Surroundings): DynamicModule {
    return {
      module: WorkerModule,
      imports: [EnvironmentModule.forRoot(surroundings), PipelineModule, OperationsModule],
    };
  }
}
