import { randomUUID } from 'node:crypto';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { JsonValue } from '@spillway/contracts';
import { DEFAULT_RETRY, JobQueues, JobsModule, type Job, type JobHandler, type JobQueue } from '@spillway/jobs';
import { EnvironmentModule } from '@spillway/pipeline';
import { CapturedLog } from './captured-log';
import { redisTimeoutMs } from './open-redis';
import { configStore } from './settings';

/** Short waits between attempts. */
export const QUICK_RETRY = { ...DEFAULT_RETRY, attempts: 3, baseMs: 20, capMs: 40 };

/** What a test has its jobs do. */
export type Deed = JobHandler<JsonValue>['run'];

/** One process, as far as jobs go. */
export interface JobProcess {
  readonly queue: JobQueue<JsonValue>;
  readonly queues: JobQueues;
  readonly log: CapturedLog;
  /** Jobs whose end it was told, in order. */
  readonly ended: readonly Job[];
  /** What those that were cancelled were to do. */
  readonly cancelled: readonly JsonValue[];
  stop(patienceMs?: number): Promise<void>;
}

/** Processes that share their jobs; without Redis there can only be one. */
export interface JobWorld {
  process(deed: Deed, options?: { readonly works?: boolean; readonly concurrency?: number }): Promise<JobProcess>;
  stop(): Promise<void>;
}

export function jobWorld(redisUrl: string | null, settings: object = {}): JobWorld {
  const prefix = `jobs-${randomUUID()}`;
  const processes: JobProcess[] = [];
  return {
    process: async (deed, { works = true, concurrency = 10 } = {}) => {
      const config = configStore(
        {
          redis: { prefix, ...(redisUrl !== null && { timeout_ms: redisTimeoutMs(redisUrl) }) },
          providers: { p: { base_url: 'http://127.0.0.1:9/v1' } },
          models: { m: { provider: 'p' } },
          async: settings,
        },
        redisUrl === null ? {} : { REDIS_URL: redisUrl },
      );
      const log = new CapturedLog();
      @Module({ imports: [EnvironmentModule.forRoot({ config, logger: log }), JobsModule] })
      class JobsApp {}
      const app = await NestFactory.createApplicationContext(JobsApp, { logger: ['error'], abortOnError: false });
      const queues = app.get(JobQueues);
      const ended: Job[] = [];
      const cancelled: JsonValue[] = [];
      const handler: JobHandler<JsonValue> = {
        retry: QUICK_RETRY,
        run: deed,
        ended: async job => void ended.push(job),
        cancelled: async payload => void cancelled.push(payload),
      };
      const queue = queues.open('test', handler, () => concurrency);
      if (works) queues.work();
      const stop = async (patienceMs = 0): Promise<void> => {
        await queues.stop(patienceMs);
        await app.close();
      };
      const process = { queue, queues, log, ended, cancelled, stop };
      processes.push(process);
      return process;
    },
    stop: async () => {
      await Promise.all(processes.map(process => process.stop()));
    },
  };
}
