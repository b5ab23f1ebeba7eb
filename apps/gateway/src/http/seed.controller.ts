import { Controller, Delete, Get, HttpCode, Param, Post, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ClientGone, InvalidRequest } from '@spillway/contracts';
import { Seeds, type CacheSurvey, type SeedStatus } from '@spillway/seeding';
import { parametersOf } from './query';

const NDJSON_TYPE = /^application\/x-ndjson\s*(?:;|$)/i;

/** Filling the caches beforehand; the doorkeeper has checked who asks for it. */
@Controller('admin')
export class SeedController {
  constructor(private readonly seeds: Seeds) {}

  @Post('seed')
  @HttpCode(202)
  async sow(@Req() request: FastifyRequest, @Query() query: Readonly<Record<string, unknown>>): Promise<object> {
    return this.seeds.sow(parametersOf(query, ['route', 'key']), textOf(request));
  }

  @Get('seed/:id')
  status(@Param('id') id: string): Promise<SeedStatus> {
    return this.seeds.status(id);
  }

  @Delete('seed/:id')
  cancel(@Param('id') id: string): Promise<SeedStatus> {
    return this.seeds.cancel(id);
  }

  /** How many of these questions would be answered by which tier, were they asked now. */
  @Post('cache/lookup')
  @HttpCode(200)
  async lookUp(
    @Req() request: FastifyRequest,
    @Query() query: Readonly<Record<string, unknown>>,
  ): Promise<CacheSurvey> {
    return this.seeds.survey(parametersOf(query, ['route', 'key']), textOf(request));
  }
}

/** A text that may be large, as it comes. @throws ClientGone when its sender left before the last byte. */
async function* textOf({ raw, headers }: FastifyRequest): AsyncGenerator<Uint8Array> {
  if (!NDJSON_TYPE.test(headers['content-type'] ?? '')) {
    throw new InvalidRequest('Send one JSON object a line, with content-type: application/x-ndjson.');
  }
  try {
    // Whoever stops reading still wants to say why.
    for await (const piece of raw.iterator({ destroyOnReturn: false })) yield piece as Uint8Array;
  } catch {
    throw new ClientGone('The caller closed the connection.');
  }
}
