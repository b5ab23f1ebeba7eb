export { CallModelsStage } from './call-models.stage';
export { PlanModelsStage } from './plan-models.stage';
export { RoutingModule } from './routing.module';
