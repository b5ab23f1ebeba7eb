import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../support/api-client';
import { jobWorld, type JobWorld } from '../support/jobs';
import { startRedis, type RedisServer } from '../support/redis-server';

describe('jobs while Redis is lost', () => {
  let redis: RedisServer;
  let world: JobWorld;

  beforeEach(async () => {
    redis = await startRedis({ durable: true });
    world = jobWorld(redis.url);
  });
  afterEach(async () => {
    await world.stop();
    await redis.stop();
  });

  const lose = { frozen: 'SIGSTOP', killed: 'SIGKILL' } as const;

  it.each(['frozen', 'killed'] as const)('an answer that arrives is kept when it is back: %s', async how => {
    let runs = 0;
    const process = await world.process(async () => {
      runs += 1;
      redis.kill(lose[how]);
      return sleep(500, 'answer');
    });
    const { id } = await process.queue.add({ owner: 'shop', payload: null });
    await until(() => runs === 1);
    await sleep(1_500);
    await expect(process.queue.add({ owner: 'shop', payload: null })).rejects.toMatchObject({ code: 'part_lost' });
    await expect(process.queue.find(id)).rejects.toMatchObject({ code: 'part_lost', status: 503 });
    if (how === 'frozen') redis.kill('SIGCONT');
    else await redis.restart();
    await until(() => process.ended.length === 1, 15_000);
    expect(await process.queue.find(id)).toMatchObject({ status: 'succeeded', result: 'answer' });
    expect(runs).toBe(1);
    await until(async () => (await process.queue.counts()).running === 0, 10_000);
  });
});
