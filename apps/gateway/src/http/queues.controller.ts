import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { InvalidRequest, PartLost, PRIORITIES } from '@spillway/contracts';
import { JobQueues, type JobQueueReport } from '@spillway/jobs';
import { Scheduling } from '@spillway/scheduling';
import { wantsPage } from './doorkeeper';

const USUAL = 100;
const MOST = 1_000;

/** Who waits for a turn, what carries them there, and the jobs: ids, times and names, never what was asked. */
@Controller('admin/queues')
export class QueuesController {
  constructor(
    private readonly scheduling: Scheduling,
    private readonly jobs: JobQueues,
  ) {}

  @Get()
  async show(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Query('limit') limit: string = String(USUAL),
  ): Promise<void> {
    // The doorkeeper let it through for a page: that is all it gets.
    if (wantsPage(request)) return void reply.redirect('/ui#queues', 303);
    const most = /^\d{1,4}$/.test(limit) ? Number(limit) : NaN;
    if (!(most <= MOST))
      throw new InvalidRequest(`limit must be a whole number from 0 to ${MOST}.`, { param: 'limit' });
    const queues = await Promise.all(
      PRIORITIES.map(async priority => [priority, await this.scheduling.queue(priority, most)]),
    );
    void reply.send({ ...Object.fromEntries(queues), jobs: await this.jobsOf(most) });
  }

  /** Null while they cannot be looked at; who waits for a turn is known then all the same. */
  private async jobsOf(most: number): Promise<Readonly<Record<string, JobQueueReport>> | null> {
    try {
      return await this.jobs.report(most);
    } catch (error) {
      if (error instanceof PartLost) return null;
      throw error;
    }
  }
}
