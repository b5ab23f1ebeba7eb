import { ask, callerOf } from '../support/caller';
import { startGateway, type Gateway } from '../support/gateway';
import { healthAt, operate } from '../support/health';
import { completion, refusal } from '../support/model-answers';
import { eventually } from '../support/operator';
import { startRedis, type RedisServer } from '../support/redis-server';
import { startUpstream, type Upstream } from '../support/scripted-upstream';

describe('the health of models while Redis is lost', () => {
  let redis: RedisServer;
  let first: Upstream;
  let second: Upstream;
  let one: Gateway;
  let other: Gateway;

  const start = (): Promise<Gateway> =>
    startGateway({
      configuration: {
        providers: { one: { base_url: `${first.url}/v1` }, two: { base_url: `${second.url}/v1` } },
        models: {
          first: { provider: 'one', breaker: { open_min_s: 20 } },
          second: { provider: 'two' },
          spare: { provider: 'two' },
        },
        routes: { assistant: { chain: ['first', 'second'], cache: { exact: false, semantic: false } } },
      },
      env: { REDIS_URL: redis.url },
    });
  const call = async ({ url }: Gateway): Promise<string> => (await ask(callerOf(url), 'assistant', 'hello?')).text;
  const partAt = async ({ url }: Gateway): Promise<string | undefined> => {
    const response = await fetch(`${url}/readyz`);
    return ((await response.json()) as { parts: Record<string, string> }).parts['redis'];
  };

  beforeAll(async () => {
    redis = await startRedis();
    first = await startUpstream(() => completion('from first'));
    second = await startUpstream(() => completion('from second'));
    [one, other] = await Promise.all([start(), start()]);
  });
  afterAll(async () => {
    await Promise.all([one.stop(), other.stop()]);
    await Promise.all([first.close(), second.close(), redis.stop()]);
  });

  it('each process goes on alone, and what it found is known to all when an empty Redis comes back', async () => {
    await operate(one, 'spare', 'pause');
    await eventually(async () => (await healthAt(other, 'spare')).pausedSince !== null);
    redis.kill('SIGKILL');
    await eventually(async () => (await partAt(one)) === 'lost' && (await partAt(other)) === 'lost');
    first.script(() => refusal(500));
    for (let count = 0; count < 10; count++) await call(one);
    expect(await call(one)).toBe('from second');
    expect(first.requests).toHaveLength(10);
    expect(await operate(one, 'spare', 'resume')).toMatchObject({ status: 503 });
    await redis.restart();
    await eventually(async () => (await healthAt(other, 'first')).state === 'open');
    const later = await start();
    expect(await healthAt(later, 'first')).toMatchObject({ state: 'open', why: 'consecutive-failures' });
    expect((await healthAt(later, 'spare')).pausedSince).not.toBeNull();
    await later.stop();
    const told = [one, other].flatMap(({ log }) =>
      log.lines.filter(({ fields }) => fields['model'] === 'first' && fields['to'] === 'open'),
    );
    expect(told).toHaveLength(1);
  });
});
