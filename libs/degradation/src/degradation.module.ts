import { Module } from '@nestjs/common';
import { DegradeStage } from './degrade.stage';

@Module({ providers: [DegradeStage], exports: [DegradeStage] })
export class DegradationModule {}
