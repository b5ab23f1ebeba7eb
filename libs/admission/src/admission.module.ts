import { Module } from '@nestjs/common';
import { AdmitCallerStage } from './admit-caller.stage';
import { Gatekeeper } from './gatekeeper';

@Module({ providers: [Gatekeeper, AdmitCallerStage], exports: [Gatekeeper, AdmitCallerStage] })
export class AdmissionModule {}
