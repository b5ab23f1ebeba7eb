import { Module } from '@nestjs/common';
import { AdmissionModule, AdmitCallerStage } from '@spillway/admission';
import {
  CacheModule,
  ExactCacheStage,
  FillCachesStage,
  OnlyIfCachedStage,
  SemanticCacheStage,
  StaleIfErrorStage,
} from '@spillway/cache';
import { ClassifyModule, ClassifyStage } from '@spillway/classify';
import { CoalesceStage, CoalescingModule } from '@spillway/coalescing';
import { DegradationModule, DegradeStage } from '@spillway/degradation';
import { CallModelsStage, PlanModelsStage, RoutingModule } from '@spillway/routing';
import { SchedulingModule, TakeTurnStage } from '@spillway/scheduling';
import { GivenAnswerStage } from '@spillway/seeding';
import type { Stage } from '@spillway/contracts';
import { compose } from './compose';
import { Pipeline } from './pipeline';
import { PipelineErrands } from './pipeline-errands';

/** THE LIST: the path of every call, in order. docs/architecture.md draws it with the error exit of each step. */
const PATH = [
  ClassifyStage,
  AdmitCallerStage,
  ExactCacheStage,
  SemanticCacheStage,
  OnlyIfCachedStage,
  DegradeStage,
  StaleIfErrorStage,
  CoalesceStage,
  FillCachesStage,
  GivenAnswerStage,
  PlanModelsStage,
  TakeTurnStage,
  CallModelsStage,
];

@Module({
  imports: [
    ClassifyModule,
    AdmissionModule,
    CacheModule,
    CoalescingModule,
    DegradationModule,
    SchedulingModule,
    RoutingModule,
  ],
  providers: [
    GivenAnswerStage,
    {
      provide: Pipeline,
      useFactory: (errands: PipelineErrands, ...stages: Stage<never, never>[]) => {
        const pipeline = new Pipeline(compose(stages));
        errands.walk(pipeline);
        return pipeline;
      },
      inject: [PipelineErrands, ...PATH],
    },
  ],
  exports: [Pipeline],
})
export class PipelineModule {}
