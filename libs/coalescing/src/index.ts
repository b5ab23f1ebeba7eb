export { CoalesceStage } from './coalesce.stage';
export { CoalescingModule } from './coalescing.module';
export { Neighbours } from './neighbours';
