export { DegradationModule } from './degradation.module';
export { DegradeStage } from './degrade.stage';
