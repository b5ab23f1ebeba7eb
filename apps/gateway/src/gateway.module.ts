import { Module, type DynamicModule } from '@nestjs/common';
import { AdmissionModule } from '@spillway/admission';
import { EnvironmentModule, PipelineModule, type Surroundings } from '@spillway/pipeline';
import { CallHandler } from './http/call-handler';
import { CallsController } from './http/calls.controller';
import { JobRequests } from './http/job-requests';
import { JobsController } from './http/jobs.controller';
import { ModelList } from './http/model-list';
import { RepeatLane } from './http/repeat-lane';
import { OperationsModule } from './operations.module';

@Module({})
export class GatewayModule {
  static forRoot(surroundings: Surroundings): DynamicModule {
    return {
      module: GatewayModule,
      imports: [EnvironmentModule.forRoot(surroundings), AdmissionModule, PipelineModule, OperationsModule],
      controllers: [CallsController, JobsController],
      providers: [CallHandler, JobRequests, ModelList, RepeatLane],
    };
  }
}
