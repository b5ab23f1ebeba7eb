import { ask, callerOf } from '../support/caller';
import { startGateway, type Gateway } from '../support/gateway';
import { healthAt } from '../support/health';
import { completion } from '../support/model-answers';
import { eventually } from '../support/operator';
import { startRedis, type RedisServer } from '../support/redis-server';
import { startUpstream, type Upstream } from '../support/scripted-upstream';

const QUESTIONS = [
  { question: 'How long is the warranty?', answer: 'The warranty lasts two years.', min_bleu: 0.5 },
  { question: '水壶能装多少水？', answer: '水壶可以装两升水。', min_bleu: 0.5 },
];
const WELL = new Map(QUESTIONS.map(({ question, answer }) => [question, answer]));

describe('canary questions', () => {
  let redis: RedisServer;
  let model: Upstream;
  let other: Upstream;
  let gateways: Gateway[] = [];
  let world = 0;
  let isWell = true;

  beforeAll(async () => {
    [redis, model, other] = await Promise.all([startRedis(), startUpstream([]), startUpstream([])]);
  });
  beforeEach(() => {
    world += 1;
    isWell = true;
    model.script(({ body }) => completion((isWell ? WELL.get(questionIn(body)) : undefined) ?? 'I am not sure.'));
    other.script(() => completion('second best'));
  });
  afterEach(async () => {
    await Promise.all(gateways.map(gateway => gateway.stop()));
    gateways = [];
  });
  afterAll(async () => {
    await Promise.all([model.close(), other.close(), redis.stop()]);
  });

  const questionIn = (body: string): string =>
    (JSON.parse(body) as { messages: { content: string }[] }).messages[0]?.content ?? '';
  const asked = (): string[] => model.requests.map(({ body }) => questionIn(body)).filter(text => WELL.has(text));
  const configuration = (everyS: number, route: object = {}): object => {
    const breaker = { min_requests: 3, degraded_error_rate: 0.15 };
    return {
      redis: { prefix: `canary-${world}` },
      providers: { one: { base_url: `${model.url}/v1` }, two: { base_url: `${other.url}/v1` } },
      models: { m: { provider: 'one', breaker }, n: { provider: 'two' } },
      routes: { assistant: { chain: ['m', 'n'], cache: { exact: false, semantic: false }, ...route } },
      health: { canary: { every_s: everyS, questions: QUESTIONS, models: ['m'] } },
    };
  };
  const start = async (everyS: number, route?: object): Promise<Gateway> => {
    const gateway = await startGateway({
      configuration: configuration(everyS, route),
      env: { REDIS_URL: redis.url },
    });
    gateways.push(gateway);
    // A start holds up the others in this process, for which Redis may look lost meanwhile.
    await Promise.all(gateways.map(one => eventually(() => isWhole(one))));
    return gateway;
  };
  const isWhole = async ({ url }: Gateway): Promise<boolean> => {
    const { status } = (await (await fetch(`${url}/readyz`)).json()) as { status: string };
    return status === 'ok';
  };
  /** Null as well while Redis looks lost. */
  const canaryAt = (gateway: Gateway) =>
    healthAt(gateway, 'm').then(
      ({ canary }) => canary,
      () => null,
    );
  const call = async ({ url }: Gateway) => {
    const { text, headers } = await ask(callerOf(url), 'assistant', 'hello');
    return { text, id: headers.get('x-request-id') ?? '' };
  };
  const metrics = async ({ url }: Gateway): Promise<string> => (await fetch(`${url}/metrics`)).text();
  const decisionsOf = async ({ url }: Gateway, id: string): Promise<unknown[]> => {
    const response = await fetch(`${url}/admin/explain/${id}`);
    return ((await response.json()) as { decisions: unknown[] }).decisions;
  };

  it('are asked by one process for all, all of them each time, as LOW calls that nothing caches', async () => {
    const all = [await start(0), await start(0), await start(0)];
    for (const gateway of all) gateway.reconfigure(configuration(3_600));
    await eventually(async () => (await canaryAt(all[2] as Gateway))?.score === 1);
    // Each looks twice a second: another process would have asked by now.
    await new Promise(resolve => setTimeout(resolve, 1_500));
    expect(asked()).toEqual(QUESTIONS.map(({ question }) => question));
    const lines = all.flatMap(({ log }) => log.lines.map(({ fields }) => fields));
    const calls = lines.filter(({ key, outcome }) => key === 'spillway:canary' && outcome !== undefined);
    expect(calls).toHaveLength(QUESTIONS.length);
    for (const line of calls) expect(line).toMatchObject({ priority: 'low', outcome: 'generated', model: 'm' });
    for (const gateway of all) {
      await eventually(async () => (await metrics(gateway)).includes('spillway_canary_score{model="m"} 1\n'));
    }
  });

  it('that are answered badly count against all answers of the model, until they are answered well', async () => {
    const gateway = await start(1);
    isWell = false;
    await eventually(async () => (await canaryAt(gateway))?.failed === true);
    const warned = gateway.log.lines.find(({ message }) => message?.includes('canary questions badly'));
    const [request = ''] = (warned?.fields['request_ids'] ?? []) as string[];
    expect(await decisionsOf(gateway, request)).toContainEqual({ kind: 'canary', model: 'm', score: 0, least: 0.5 });

    const ids: string[] = [];
    await eventually(async () => {
      const { text, id } = await call(gateway);
      ids.push(id);
      return text === 'second best';
    });
    expect(await decisionsOf(gateway, ids[0] ?? '')).toContainEqual({
      kind: 'quality',
      model: 'm',
      signals: ['canary'],
    });
    expect(await healthAt(gateway, 'm')).toMatchObject({ state: 'degraded' });
    expect(await metrics(gateway)).toMatch(/^spillway_quality_signals_total\{model="m",signal="canary"\} [1-9]/m);

    isWell = true;
    await eventually(async () => (await canaryAt(gateway))?.failed === false);
  });

  it('count for no route that does not want it, and are not asked unless configured', async () => {
    const gateway = await start(1, { quality: { canary: false } });
    isWell = false;
    await eventually(async () => (await canaryAt(gateway))?.failed === true);
    expect(await decisionsOf(gateway, (await call(gateway)).id)).not.toContainEqual(
      expect.objectContaining({ kind: 'quality' }),
    );
    await gateway.stop();
    gateways = [];
    model.script(() => completion('hello'));
    await start(0);
    await new Promise(resolve => setTimeout(resolve, 1_500));
    expect(asked()).toEqual([]);
  });
});
