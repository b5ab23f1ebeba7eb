import 'reflect-metadata';
import { Global, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ConfigStore } from '@spillway/config';
import { Clock, Errands, partsOf, SystemClock, wholePart, type Answer } from '@spillway/contracts';
import { RedisModule } from '@spillway/redis';
import { Logger, Metrics } from '@spillway/telemetry';
import { cacheableCall, completion } from '../../../test/support/cached-calls';
import { CapturedLog } from '../../../test/support/captured-log';
import { configStore } from '../../../test/support/settings';
import { CacheGenerations } from './cache-generations';
import { CacheModule } from './cache.module';
import { ExactCacheStage } from './exact-cache.stage';
import { FillCachesStage } from './fill-caches.stage';

interface Process {
  ask(): Promise<string>;
  readonly generations: CacheGenerations;
  stop(): Promise<void>;
}

async function start(redis: { url: string; prefix: string } | null): Promise<Process> {
  const environment = [
    { provide: ConfigStore, useValue: configStore({}) },
    { provide: Clock, useValue: new SystemClock() },
    { provide: Logger, useValue: new CapturedLog() },
    { provide: Metrics, useValue: new Metrics() },
    { provide: Errands, useValue: { run: () => Promise.reject(new Error('nobody judges')) } },
  ];
  @Global()
  @Module({ providers: environment, exports: environment })
  class EnvironmentModule {}

  @Module({ imports: [EnvironmentModule, RedisModule.forRootAsync({ useFactory: () => redis }), CacheModule] })
  class AppModule {}

  const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
  const [exact, fill] = [app.get(ExactCacheStage), app.get(FillCachesStage)];
  const answered = (): Answer => ({ outcome: 'generated', parts: partsOf(wholePart(completion({ content: 'pong' }))) });
  return {
    generations: app.get(CacheGenerations),
    stop: () => app.close(),
    ask: async () => {
      const call = cacheableCall();
      const { parts } = await exact.handle(call, keyed => fill.handle(keyed, async () => answered()));
      for await (const part of parts) expect(part.json).toContain('pong');
      // What is kept in Redis is written after the answer.
      await new Promise(resolve => setTimeout(resolve, 150));
      return call.journal.cache;
    },
  };
}

describe('CacheModule', () => {
  it('caches in the process without Redis', async () => {
    const process = await start(null);
    expect([await process.ask(), await process.ask()]).toEqual(['MISS', 'HIT']);
    await process.generations.clear({});
    expect(await process.ask()).toBe('MISS');
    await process.stop();
  });

  it('shares answers and clearings through Redis', async () => {
    const redis = { url: process.env['SPILLWAY_TEST_REDIS_URL'] ?? '', prefix: `cache-module-${process.pid}` };
    const [one, other] = [await start(redis), await start(redis)];
    expect([await one.ask(), await other.ask(), await other.ask()]).toEqual(['MISS', 'HIT', 'HIT']);
    await one.generations.clear({ route: 'assistant' });
    const generationOf = ({ generations }: Process): string => generations.current('assistant', '');
    while (generationOf(other) !== generationOf(one)) await new Promise(resolve => setTimeout(resolve, 20));
    expect([await other.ask(), await one.ask()]).toEqual(['MISS', 'HIT']);
    await Promise.all([one.stop(), other.stop()]);
  });
});
