export { CallReport, type Ending } from './call-report';
export { EnvironmentModule, type Surroundings } from './environment.module';
export { Pipeline } from './pipeline';
export { PipelineModule } from './pipeline.module';
