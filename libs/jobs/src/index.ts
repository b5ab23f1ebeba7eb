export { CallJobs, type AsyncCall } from './call-jobs';
export { DEFAULT_RETRY } from './after-failure';
export { JobQueues, type JobQueueReport } from './job-queues';
export { JobsModule } from './jobs.module';
export { jobView } from './job-view';
export type { JobQueue } from './job-queue';
export type { Job, JobHandler, RunningJob } from './job';
