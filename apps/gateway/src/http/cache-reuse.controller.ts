import { Controller, Get, HttpCode, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ReuseDesk, type RouteQuality } from '@spillway/cache';
import { InvalidRequest, NotFound, isJsonObject } from '@spillway/contracts';
import { readJson } from './read-json';

const BODY_LIMIT = 10_000;

/** How well the semantic cache reuses answers, and who says that it did not. */
@Controller('admin/cache')
export class CacheReuseController {
  constructor(private readonly reuse: ReuseDesk) {}

  @Get('quality')
  quality(): { routes: Readonly<Record<string, RouteQuality>> } {
    return { routes: this.reuse.quality() };
  }

  /** `{"request_id", "wrong"}`: whether the answer that a semantic hit gave was wrong. */
  @Post('feedback')
  @HttpCode(200)
  async feedback(@Req() request: FastifyRequest): Promise<{ noted: true }> {
    const body = await readJson(request, BODY_LIMIT);
    if (!isJsonObject(body)) throw new InvalidRequest('The body must be a JSON object.');
    const { request_id: requestId, wrong } = body;
    if (typeof requestId !== 'string' || requestId === '') {
      throw new InvalidRequest('request_id must be the id of a call.', { param: 'request_id' });
    }
    if (typeof wrong !== 'boolean') throw new InvalidRequest('wrong must be true or false.', { param: 'wrong' });
    if (!(await this.reuse.feedback(requestId, wrong))) {
      throw new NotFound('No semantic hit with this request id is remembered.', { retryable: false });
    }
    return { noted: true };
  }
}
