import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { ApiClient, until, type Reply } from '../support/api-client';
import { inputsOf } from '../support/case-data';
import { completion, refusal } from '../support/model-answers';
import type { Step } from '../support/upstream-step';
import { ask, startWorld, type World } from '../support/world';

const KIND = 'cache';
const redisUrl = process.env['SPILLWAY_TEST_REDIS_URL'] ?? '';

const cacheOf = (reply: Reply): string | null => reply.headers.get('x-spillway-cache');

describe.each(['in the process', 'in Redis'])('answers kept %s', where => {
  let world: World;
  let client: ApiClient;
  const shared = where === 'in Redis';

  beforeAll(async () => {
    world = await startWorld({
      cache: true,
      // A climber would remember the refusals of D05.
      model: { climb: { mode: 'off' }, limits: { rpm: 10_000, tpm: 1_000_000 }, headroom: 0 },
      configuration: {
        redis: { prefix: `cases-cache-${process.pid}` },
        // One entry in the process, so that hits come from Redis.
        ...(shared && { cache: { l1_entries: 1 } }),
      },
      ...(shared && { env: { REDIS_URL: redisUrl } }),
    });
    ({ client } = world);
  });
  afterAll(() => world.stop());

  const stepsOf = (id: string): Step[] => inputsOf<{ step: Step }>(KIND, id).map(({ step }) => step);
  /** An answer is stored after its reader has it. */
  const stored = (): Promise<void> => sleep(60);
  const keptInRedis = async (): Promise<number> => {
    if (!shared) return 0;
    const redis = new Redis(redisUrl);
    const keys = await redis.keys(`*cases-cache-${process.pid}*:cache:exact:*`);
    redis.disconnect();
    return keys.length;
  };

  it('D05 are never failures', async () => {
    const failures = stepsOf('D05');
    for (const [index, step] of failures.entries()) {
      world.primary.script([step]);
      const reply = await client.send({ body: ask(`f${index}`, { model: 'alone', temperature: 0 }) });
      expect(reply.status).toBeGreaterThanOrEqual(400);
      await stored();
    }
    expect(await keptInRedis()).toBe(0);
    world.primary.script([completion('good')]);
    for (const index of failures.keys()) {
      const reply = await client.send({ body: ask(`f${index}`, { model: 'alone', temperature: 0 }) });
      expect([reply.said, cacheOf(reply)]).toEqual(['good', 'MISS']);
    }
    expect(world.primary.requests).toHaveLength(failures.length);
    await stored();
    expect(await keptInRedis()).toBe(shared ? failures.length : 0);
  });

  it.each(stepsOf('D10').map((step, index) => [index, step] as const))(
    'D10 come back with their structure and their escapes: %i',
    async (index, step) => {
      world.primary.script([step]);
      const body = ask(`structure ${index}`, { temperature: 0 });
      const first = await client.send({ body });
      await stored();
      const second = await client.send({ body });
      expect(cacheOf(second)).toBe('HIT');
      const { id, created, ...rest } = second.body;
      const { id: firstId, created: _, ...firstRest } = first.body;
      expect(rest).toEqual(firstRest);
      expect(id).not.toBe(firstId);
      expect(created).toBeGreaterThan(1_700_000_000);
      expect(world.primary.requests).toHaveLength(1);
    },
  );

  it('D17 differ for different pictures, and remote ones are left alone', async () => {
    let fetched = 0;
    world.fallback.script(() => (fetched++, completion('a picture')));
    const contents = inputsOf<{ content: { image_url?: { url: string } }[] }>(KIND, 'D17').map(
      ({ content }) =>
        JSON.parse(JSON.stringify(content).replace('https://img.example', world.fallback.url)) as unknown,
    );
    world.primary.script([completion('cat'), completion('dog'), completion('bird')]);
    for (const [index, name] of ['cat', 'dog', 'bird'].entries()) {
      expect((await client.send({ body: ask(contents[index], { temperature: 0 }) })).said).toBe(name);
    }
    await stored();
    expect((await client.send({ body: ask(contents[1], { temperature: 0 }) })).said).toBe('dog');
    expect(world.primary.requests).toHaveLength(3);
    expect(fetched).toBe(0);
  });

  it('D18 are the first model’s own: one of a fallback is shown as such and asked for anew', async () => {
    world.primary.script([refusal(503), completion('from primary')]);
    world.fallback.script([completion('from fallback', { model: 'real-fallback' })]);
    const first = await client.send({ body: ask('fb', { temperature: 0 }) });
    expect([first.said, first.headers.get('x-spillway-model')]).toEqual(['from fallback', 'fallback']);
    expect(first.headers.get('x-spillway-outcome')).toBe('fallback-model');
    await stored();
    const second = await client.send({ body: ask('fb', { temperature: 0 }) });
    expect([second.said, cacheOf(second)]).toEqual(['from primary', 'MISS']);
  });

  it('D20 cost no call, no token and no turn', async () => {
    const usage = { prompt_tokens: 50, completion_tokens: 10, total_tokens: 60 };
    world.primary.script([completion('pong', { usage })]);
    const tokens = (): Promise<number> => client.metric('ai_token_consumed_total', { model: 'primary' });
    const saved = (): Promise<number> => client.metric('spillway_tokens_saved_total');
    const leftOfModel = (limit: string): Promise<number> =>
      client.metric('ratelimit_remaining', { model: 'primary', limit });
    const [tokensBefore, savedBefore] = [await tokens(), await saved()];
    const [callsLeft, tokensLeft] = [await leftOfModel('rpm'), await leftOfModel('tpm')];
    const body = ask('hit', { temperature: 0 });
    await client.send({ body });
    await stored();
    for (let round = 0; round < 20; round++) {
      const hit = await client.send({ body });
      expect([cacheOf(hit), hit.headers.get('x-spillway-attempts')]).toEqual(['HIT', '0']);
      expect(Number(hit.headers.get('age'))).toBeGreaterThanOrEqual(0);
    }
    expect(world.primary.requests).toHaveLength(1);
    expect(await tokens()).toBe(tokensBefore + 60);
    expect(await saved()).toBe(savedBefore + 20 * 60);
    await until(async () => (await client.metric('spillway_model_inflight')) === 0);
    await until(async () => (await leftOfModel('tpm')) === tokensLeft - 60);
    expect(await leftOfModel('rpm')).toBe(callsLeft - 1);
  });
});
