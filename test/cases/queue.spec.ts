import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { ApiClient, until, type Reply } from '../support/api-client';
import { completion } from '../support/model-answers';
import { questionIn } from '../support/model-requests';
import { LOSES_REDIS } from '../support/open-redis';
import { startRedis, type RedisServer } from '../support/redis-server';
import { ask, startWorld, type World, type WorldOptions } from '../support/world';

const redisUrl = process.env['SPILLWAY_TEST_REDIS_URL'] ?? '';
const ONE_AT_A_TIME = { limits: { inflight: 1 }, headroom: 0 };

describe.each([true, false])('turns through Redis, express: %s', express => {
  let world: World;
  let client: ApiClient;
  let ownRedis: RedisServer | null = null;
  const warnings: Error[] = [];
  const warned = (warning: Error): void => void warnings.push(warning);
  const prefix = `cases-queue-${process.pid}-${express}`;

  const start = async ({ configuration, ...options }: WorldOptions = {}, url = redisUrl): Promise<void> => {
    world = await startWorld({
      ...options,
      configuration: { scheduling: { express }, redis: { prefix }, ...configuration },
      env: { REDIS_URL: url },
    });
    ({ client } = world);
  };

  beforeAll(() => process.on('warning', warned));
  afterAll(() => process.off('warning', warned));
  afterEach(async () => {
    await world.stop();
    await ownRedis?.stop();
    ownRedis = null;
  });

  const inMasses = async (count: number, concurrency: number, one: (index: number) => Promise<void>): Promise<void> => {
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < count) await one(next++);
    };
    await Promise.all(Array.from({ length: concurrency }, worker));
  };

  it('E12 hundreds of quick calls all get their answer, and nothing piles up', async () => {
    await start();
    world.primary.script([completion('pong')]);
    const slow: number[] = [];
    const statuses = new Map<number, number>();
    const timers = (): number => process.getActiveResourcesInfo().filter(kind => kind === 'Timeout').length;
    await client.send({ body: ask('first') });
    await sleep(50);
    const before = timers();
    await inMasses(500, 50, async index => {
      const { status, took } = await client.send({ body: ask(`fast ${index}`) });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (took > 8_000) slow.push(took);
    });
    expect(Object.fromEntries(statuses)).toEqual({ 200: 500 });
    expect(slow).toEqual([]);
    await until(async () => (await client.metric('spillway_model_inflight')) === 0);
    await until(() => timers() <= before + 5);
    expect(warnings.filter(({ name }) => name === 'MaxListenersExceededWarning')).toEqual([]);
  });

  it('E12 calls end, one way or the other, when Redis freezes for a second among them', async () => {
    const redis = (ownRedis = await startRedis());
    await start({ configuration: { redis: { prefix, ...LOSES_REDIS } } }, redis.url);
    world.primary.script([completion('pong')]);
    const frozen = sleep(100).then(async () => {
      redis.kill('SIGSTOP');
      await sleep(1_000);
      redis.kill('SIGCONT');
    });
    const replies: Reply[] = [];
    const end = Date.now() + 1_500;
    const worker = async (): Promise<void> => {
      while (Date.now() < end) replies.push(await client.send({ body: ask(`frozen ${replies.length}`) }));
    };
    await Promise.all(Array.from({ length: 10 }, worker));
    await frozen;
    expect(replies.filter(({ status }) => ![200, 503].includes(status)).map(({ raw }) => raw)).toEqual([]);
    expect(Math.max(...replies.map(({ took }) => took))).toBeLessThan(6_000);
    expect(replies.some(({ status }) => status === 200)).toBe(true);
  });

  it('E14 a call that names no class, or none that exists, never overtakes a critical one', async () => {
    await start({
      model: ONE_AT_A_TIME,
      configuration: {
        keys: [
          { name: 'a', key: 'KEY_A' },
          { name: 'batch', key: 'KEY_BATCH', priority: 'low', max_priority: 'normal' },
        ],
        // Equal, so that no deadline orders what the class must.
        priorities: { critical: { max_wait_ms: 9_000 }, normal: { max_wait_ms: 9_000 }, low: { max_wait_ms: 9_000 } },
      },
    });
    world.primary.script([{ ...completion('pong'), ttfb_ms: 1_500 }, completion('pong')]);
    const send = (name: string, headers: Record<string, string>, from = client): Promise<Reply> =>
      from.send({ body: ask(name, { model: 'alone' }), headers });
    const first = send('first', {});
    await until(() => world.primary.requests.length === 1);
    const waiting = [
      ...['none 1', 'none 2'].map(name => send(name, {})),
      ...['empty 1', 'empty 2'].map(name => send(name, { 'x-spillway-priority': '' })),
      send('low', { 'x-spillway-priority': 'LOW' }),
    ];
    const demoted = send('demoted', { 'x-spillway-priority': 'critical' }, client.as('KEY_BATCH'));
    await until(async () => (await client.metric('spillway_queue_depth')) === 6);
    const critical = ['critical', 'CRITICAL'].map((word, index) =>
      send(`critical ${index}`, { 'x-spillway-priority': word }),
    );
    await until(async () => (await client.metric('spillway_queue_depth')) === 8);
    const unknown = await send('unknown', { 'x-spillway-priority': 'urgent!!' });
    expect([unknown.status, unknown.body.error?.param]).toEqual([400, 'x-spillway-priority']);
    const replies = await Promise.all([first, ...waiting, demoted, ...critical]);
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    const order = world.primary.requests.map(({ body }) => questionIn(body));
    expect(order[0]).toBe('first');
    expect(order.slice(1, 3).toSorted()).toEqual(['critical 0', 'critical 1']);
    expect(order.at(-1)).toBe('low');
    expect(order).toHaveLength(9);
    const lowered = await demoted;
    expect(lowered.headers.get('x-spillway-priority')).toBe('normal');
    expect(lowered.headers.get('x-spillway-priority-requested')).toBe('critical');
    expect((await waiting[2])?.headers.get('x-spillway-priority')).toBe('normal');
  });

  describe('E15 a low call under a steady stream of normal ones', () => {
    const priorities = {
      normal: { min_share: 0, share: 1 },
      low: { min_share: 0, share: 1, max_wait_ms: 400 },
    };

    const crowdedOut = async (body: object, size = 4): Promise<{ low: Reply; critical: Reply }> => {
      world.primary.script([{ ...completion('pong'), ttfb_ms: 30 }]);
      let crowded = true;
      const crowd = Array.from({ length: size }, async () => {
        while (crowded) await client.send({ body: ask('crowd', { model: 'alone' }) });
      });
      await until(async () => (await client.metric('spillway_queue_depth', { priority: 'normal' })) >= 2);
      const sending = client.send({ body, path: '/low/v1/chat/completions' });
      const critical = await client.send({
        body: ask('now', { model: 'alone' }),
        path: '/critical/v1/chat/completions',
      });
      const low = await sending;
      crowded = false;
      await Promise.all(crowd);
      return { low, critical };
    };

    it('is served by the share that its class is promised', async () => {
      const model = { limits: { inflight: 4 }, headroom: 0 };
      await start({ model, configuration: { priorities: { normal: { share: 1 }, low: { max_wait_ms: 20_000 } } } });
      const { low, critical } = await crowdedOut(ask('low', { model: 'alone' }), 12);
      expect([low.status, low.said, critical.status]).toEqual([200, 'pong', 200]);
    });

    it('is told after its longest wait, and when to come back', async () => {
      await start({ model: ONE_AT_A_TIME, configuration: { priorities } });
      const { low, critical } = await crowdedOut(ask('low', { model: 'alone' }));
      expect([low.status, low.said]).toEqual([504, 'queue_timeout']);
      expect(low.took).toBeLessThan(400 + 5_000);
      expect(Number(low.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(low.headers.get('x-spillway-outcome')).toBe('expired-in-queue');
      expect(critical.status).toBe(200);
      expect(Number(critical.headers.get('x-spillway-queue-ms'))).toBeLessThan(2_000);
    });

    it('gets the fallback text of its route where there is one', async () => {
      await start({
        model: ONE_AT_A_TIME,
        configuration: { priorities },
        route: { fallback_response: { low: 'busy' } },
      });
      const { low } = await crowdedOut(ask('low', { model: 'alone' }));
      expect([low.status, low.said, low.headers.get('x-spillway-degraded')]).toEqual([
        200,
        'busy',
        'fallback-response',
      ]);
    });
  });

  it('tells whom it turns away when the limits of the model admit again', async () => {
    const priorities = { normal: { max_wait_ms: 2_000, queue_limit: 1 } };
    // The calls of the other tests are still in the window that this limit looks at.
    const redis = { prefix: `${prefix}-limits` };
    await start({ model: { limits: { rpm: 1 }, headroom: 0 }, configuration: { priorities, redis } });
    world.primary.script([completion('pong')]);
    const send = (content: string): Promise<Reply> => client.send({ body: ask(content, { model: 'alone' }) });
    expect((await send('first')).status).toBe(200);
    // What cannot have its turn in time is told at once, and stands in nobody's way.
    const refused = [await send('in vain')];
    const patient = new AbortController();
    const waiting = client.send({
      body: ask('waiting', { model: 'alone' }),
      headers: { 'x-spillway-max-wait-ms': '120000' },
      signal: patient.signal,
    });
    await until(async () => (await client.metric('spillway_queue_depth', { priority: 'normal' })) === 1);
    refused.push(await send('one too many'));
    patient.abort();
    await expect(waiting).rejects.toThrow(/abort/i);
    expect(refused.map(({ said }) => said)).toEqual(['queue_timeout', 'queue_full']);
    expect(Number(refused[0]?.headers.get('x-spillway-queue-ms'))).toBeLessThan(1_900);
    for (const { headers } of refused) {
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(45);
      expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(61);
    }
  });

  it('E16 equal request ids of callers do not swallow each other', async () => {
    await start({ model: ONE_AT_A_TIME });
    world.primary.script([{ ...completion('pong'), ttfb_ms: 20 }]);
    const ids = ['123', '123', '123', 'a.b', 'a.b'];
    const replies = await Promise.all(
      ids.map((id, index) =>
        client.send({ body: ask(`id ${index}`, { model: 'alone' }), headers: { 'x-request-id': id } }),
      ),
    );
    expect(replies.map(({ status, headers }) => [status, headers.get('x-request-id')])).toEqual(
      ids.map(id => [200, id]),
    );
    expect(world.primary.requests).toHaveLength(ids.length);
  });

  it('E17 prompts and answers never go through Redis', async () => {
    await start({ model: { limits: { inflight: 4 }, headroom: 0 } });
    const redis = new Redis(redisUrl);
    const memory = async (): Promise<number> => Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
    const marker = 'a-long-answer-';
    world.primary.script([completion(marker.repeat(4_000))]);
    const before = await memory();
    await inMasses(40, 10, async index => {
      const { status } = await client.send({ body: ask(`${index} ${'prompt '.repeat(50_000)}`) });
      expect(status).toBe(200);
    });
    expect((await memory()) - before).toBeLessThan(4_000_000);
    const keys = await redis.keys(`*${prefix}*`);
    const bytes = await Promise.all(keys.map(key => redis.memory('USAGE', key)));
    expect(keys.length).toBeGreaterThan(0);
    // Some bytes of each ticket may stay in a stream of events that BullMQ trims; nothing of the size of a prompt does.
    expect(Math.max(...bytes.map(Number))).toBeLessThan(200_000);
    await redis.quit();
  });
});
