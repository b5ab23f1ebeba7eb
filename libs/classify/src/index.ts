export { ClassifyModule } from './classify.module';
export { ClassifyStage } from './classify.stage';
export { parseControls } from './controls';
export { asyncPreference } from './prefer';
