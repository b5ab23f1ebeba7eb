import { Module } from '@nestjs/common';
import { ProvidersModule } from '@spillway/providers';
import { CallModelsStage } from './call-models.stage';

@Module({ imports: [ProvidersModule], providers: [CallModelsStage], exports: [CallModelsStage] })
export class RoutingModule {}
