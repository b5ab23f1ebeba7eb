import { ask, callerOf } from '../support/caller';
import type { Gateway } from '../support/gateway';
import { startGateways, type Gateways } from '../support/gateways';
import { healthAt } from '../support/health';
import { completion } from '../support/model-answers';
import { questionIn } from '../support/model-requests';
import { eventually } from '../support/operator';

const QUESTIONS = [
  { question: 'How long is the warranty?', answer: 'The warranty lasts two years.', min_bleu: 0.5 },
  { question: '水壶能装多少水？', answer: '水壶可以装两升水。', min_bleu: 0.5 },
];
const WELL = new Map(QUESTIONS.map(({ question, answer }) => [question, answer]));

describe('canary questions', () => {
  let gateways: Gateways;
  let isWell = true;

  beforeAll(async () => {
    gateways = await startGateways();
  });
  beforeEach(() => {
    isWell = true;
    const answer = (body: string): string => (isWell ? WELL.get(questionIn(body)) : undefined) ?? 'I am not sure.';
    gateways.first.script(({ body }) => completion(answer(body)));
    gateways.second.script(() => completion('second best'));
  });
  afterEach(() => gateways.clear());
  afterAll(() => gateways.stop());

  const asked = (): string[] =>
    gateways.first.requests.map(({ body }) => questionIn(body)).filter(text => WELL.has(text));
  const configuration = (everyS: number, route: object = {}): object => {
    const breaker = { min_requests: 3, degraded_error_rate: 0.15 };
    return {
      models: { m: { provider: 'one', breaker }, n: { provider: 'two' } },
      routes: { assistant: { chain: ['m', 'n'], cache: { exact: false, semantic: false }, ...route } },
      health: { canary: { every_s: everyS, questions: QUESTIONS, models: ['m'] } },
    };
  };
  const start = (everyS: number, route?: object): Promise<Gateway> =>
    gateways.startShared(configuration(everyS, route));
  const canaryAt = async (gateway: Gateway) => (await healthAt(gateway, 'm')).canary;
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
    gateways.first.script(() => completion('hello'));
    await start(0);
    await new Promise(resolve => setTimeout(resolve, 1_500));
    expect(asked()).toEqual([]);
  });
});
