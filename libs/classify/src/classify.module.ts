import { Module } from '@nestjs/common';
import { ClassifyStage } from './classify.stage';

@Module({ providers: [ClassifyStage], exports: [ClassifyStage] })
export class ClassifyModule {}
