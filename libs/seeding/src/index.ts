export type { CacheSurvey } from './cache-survey';
export { GivenAnswerStage } from './given-answer.stage';
export { logLineAsSeed, questionsOfLog, type LogQuestions } from './log-questions';
export type { LineFailure } from './seed-progress';
export { RedisSeedLines } from './redis-seed-lines';
export { MemorySeedLines, SeedLines } from './seed-lines';
export { SeedingModule } from './seeding.module';
export { Seeds, type SeedStatus } from './seeds';
export { linesOf } from './text-lines';
