import { Controller, Delete, Get, Param, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { PRIORITIES, type JsonObject } from '@spillway/contracts';
import { JobRequests } from './job-requests';

/** The jobs of a caller; each is seen by the key that made it, and by no other. */
@Controller(['v1', ...PRIORITIES.map(priority => `${priority}/v1`)].map(base => `${base}/jobs`))
export class JobsController {
  constructor(private readonly jobs: JobRequests) {}

  @Get(':id')
  find(@Req() request: FastifyRequest, @Param('id') id: string): Promise<JsonObject> {
    return this.jobs.find(request, id);
  }

  @Delete(':id')
  cancel(@Req() request: FastifyRequest, @Param('id') id: string): Promise<JsonObject> {
    return this.jobs.cancel(request, id);
  }
}
