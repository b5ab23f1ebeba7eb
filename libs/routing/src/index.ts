export { CallModelsStage } from './call-models.stage';
export { RoutingModule } from './routing.module';
