export { Scheduling } from './scheduling';
export { SchedulingModule } from './scheduling.module';
export { TakeTurnStage } from './take-turn.stage';
