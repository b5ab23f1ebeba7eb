import { Module } from '@nestjs/common';
import { HealthModule } from '@spillway/health';
import { ProvidersModule } from '@spillway/providers';
import { QuotaModule } from '@spillway/quota';
import { AnswerQuality } from './answer-quality';
import { CallModelsStage } from './call-models.stage';
import { HedgePlanner } from './hedge-planner';
import { HedgedCaller } from './hedged-caller';
import { HighLoad } from './high-load';
import { ModelCaller } from './model-caller';
import { ModelPlanner } from './model-planner';
import { PlanModelsStage } from './plan-models.stage';
import { ProbeCalls } from './probe-calls';
import { ProbeOffers } from './probe-offers';
import { Prober } from './prober';

@Module({
  imports: [HealthModule, ProvidersModule, QuotaModule],
  providers: [
    AnswerQuality,
    CallModelsStage,
    HedgePlanner,
    HedgedCaller,
    HighLoad,
    ModelCaller,
    ModelPlanner,
    PlanModelsStage,
    ProbeCalls,
    ProbeOffers,
    Prober,
  ],
  exports: [CallModelsStage, PlanModelsStage],
})
export class RoutingModule {}
