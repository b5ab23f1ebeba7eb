import { Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { InvalidRequest, NotFound } from '@spillway/contracts';
import { JobQueues, type Job } from '@spillway/jobs';

const MOST = 100;

/** Jobs that failed for good, of all callers. */
@Controller('admin/jobs')
export class AdminJobsController {
  constructor(private readonly queues: JobQueues) {}

  /** The newest hundred. */
  @Get()
  async list(@Query('state') state = 'failed'): Promise<{ jobs: readonly object[] }> {
    if (state !== 'failed') throw new InvalidRequest('state must be failed.', { param: 'state' });
    return { jobs: (await this.queues.failed(MOST)).map(entryOf) };
  }

  @Post(':id/retry')
  @HttpCode(200)
  async retry(@Param('id') id: string): Promise<object> {
    const job = await this.queues.retry(id);
    if (job === null) throw new NotFound('No job that failed has this id.', { retryable: false });
    return entryOf(job);
  }
}

/** Neither what was asked nor what was answered. */
function entryOf({ id, kind, owner, status, createdAt, endedAt, attempts, error }: Job): object {
  const seconds = (ms: number | null): number | null => (ms === null ? null : Math.floor(ms / 1000));
  return { id, kind, key: owner, status, created_at: seconds(createdAt), ended_at: seconds(endedAt), attempts, error };
}
