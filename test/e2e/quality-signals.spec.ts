import { completion, events, FINISH, text, USAGE } from '../support/model-answers';
import { until, type Reply } from '../support/api-client';
import { ask, startWorld, type World } from '../support/world';

const CIRCLES = 'I am sorry about that, and I am sorry about this. '.repeat(20);

describe('answers that came and are bad', () => {
  let world: World;

  beforeEach(async () => {
    world = await startWorld({
      model: {
        breaker: { min_requests: 5, degraded_error_rate: 0.15, open_error_rate: 0.9, consecutive_failures: 1_000 },
      },
      configuration: {
        routes: {
          lenient: {
            chain: ['primary', 'fallback'],
            cache: { exact: false, semantic: false },
            quality: { repetition: false, json: false, truncated: false },
          },
        },
      },
    });
    world.fallback.script([completion('second best')]);
  });
  afterEach(() => world.stop());

  const counted = (signal: string): Promise<number> =>
    world.client.metric('spillway_quality_signals_total', { model: 'primary', signal });
  const send = (more: object = {}): Promise<Reply> => world.client.send({ body: ask('hi', more) });
  const decisions = async (reply: Reply): Promise<unknown> => {
    const id = reply.headers.get('x-request-id') ?? '';
    const { raw } = await world.client.get(`/admin/explain/${id}`);
    return (JSON.parse(raw) as { decisions: unknown }).decisions;
  };

  it('make a model that runs in circles give way to the next, though it never failed', async () => {
    world.primary.script([completion(CIRCLES)]);
    const models: (string | null)[] = [];
    await until(async () => {
      const reply = await send();
      expect(reply.status).toBe(200);
      models.push(reply.headers.get('x-spillway-model'));
      return models.at(-1) === 'fallback';
    }, 10_000);
    expect(models.slice(0, 5)).toEqual(Array.from({ length: 5 }, () => 'primary'));
    expect(await counted('repetition')).toBeGreaterThanOrEqual(5);
  });

  it('are counted and explained, of a stream as well', async () => {
    world.primary.script([events([text(CIRCLES), text(CIRCLES), FINISH, USAGE, '[DONE]'])]);
    const reply = await world.client.stream({ body: ask('hi') });
    await until(async () => (await counted('repetition')) === 1);
    expect(await decisions(reply)).toContainEqual({ kind: 'quality', model: 'primary', signals: ['repetition'] });
  });

  it('are no JSON, cut off, filtered or empty', async () => {
    const ending = (content: string, finish_reason: string) =>
      completion(content, { choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason }] });
    world.primary.script([
      completion('{"a": 1'),
      ending('cut', 'length'),
      ending('well', 'content_filter'),
      completion(''),
      completion('good'),
    ]);
    await send({ response_format: { type: 'json_object' } });
    await send({ max_tokens: 100 });
    await send();
    expect((await send()).headers.get('x-spillway-model')).toBe('fallback');
    await send({ response_format: { type: 'text' } });
    for (const signal of ['json', 'truncated', 'filtered', 'empty'])
      await until(async () => (await counted(signal)) === 1);
    expect(await world.client.metric('spillway_quality_signals_total')).toBe(4);
  });

  it('are good enough for a route that says so', async () => {
    world.primary.script([completion(CIRCLES)]);
    for (let call = 0; call < 12; call++) {
      const reply = await send({ model: 'lenient', response_format: { type: 'json_object' } });
      expect(reply.headers.get('x-spillway-model')).toBe('primary');
    }
    expect(await world.client.metric('spillway_quality_signals_total')).toBe(0);
  });
});
