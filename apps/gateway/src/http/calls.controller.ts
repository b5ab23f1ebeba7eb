import { Controller, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ModelNotFound, PRIORITIES, type Priority } from '@spillway/contracts';
import { CallHandler } from './call-handler';
import { JobRequests, preferenceOf } from './job-requests';
import { ModelList, type ModelEntry } from './model-list';
import { callerOf } from './doorkeeper';

/** The OpenAI API, once at the root and once below each class. */
@Controller(['v1', ...PRIORITIES.map(priority => `${priority}/v1`)])
export class CallsController {
  constructor(
    private readonly handler: CallHandler,
    private readonly models: ModelList,
    private readonly jobs: JobRequests,
  ) {}

  @Post('chat/completions')
  @HttpCode(200)
  chat(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const priority = priorityOf(request);
    const later = preferenceOf(request);
    if (later === null) return this.handler.handle(request, reply, 'chat', priority);
    if (later.waitMs === null) return this.jobs.submit(request, reply, priority);
    return this.handler.handle(request, reply, 'chat', priority, call => this.jobs.deferral(request, call, priority));
  }

  @Post('embeddings')
  @HttpCode(200)
  embeddings(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.handler.handle(request, reply, 'embeddings', priorityOf(request));
  }

  @Get('models')
  list(@Req() request: FastifyRequest): { object: 'list'; data: readonly ModelEntry[] } {
    return { object: 'list', data: this.models.of(callerOf(request)) };
  }

  /** Names may hold slashes, and not every client escapes them. */
  @Get('models/*')
  model(@Req() request: FastifyRequest, @Param('*') id: string): ModelEntry {
    const entry = this.models.of(callerOf(request)).find(candidate => candidate.id === id);
    if (entry === undefined)
      throw new ModelNotFound('There is no such model here.', { param: 'model', retryable: false });
    return entry;
  }
}

/** The class that the route stands below, by the router's word: the address can be written in many ways. */
function priorityOf({ routeOptions: { url } }: FastifyRequest): Priority | null {
  return PRIORITIES.find(priority => url?.startsWith(`/${priority}/`)) ?? null;
}
