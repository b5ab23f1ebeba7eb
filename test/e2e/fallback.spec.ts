import type OpenAI from 'openai';
import { startSimulator, type Simulator } from '../../apps/simulator/src/simulator';
import { ask, askForStream, callerOf, failureOf } from '../support/caller';
import { startInstallation, type Installation } from '../support/installation';

const APOLOGY = 'We are very busy, please try again in a moment. 我们很忙';
const PROMPT_MODEL = { defaultModel: { latency: { first_token_ms: 0, tokens_per_s: 0 } } };

describe('fallback, when models fail', () => {
  let installation: Installation;
  let first: Simulator;
  let second: Simulator;
  let critical: OpenAI;
  let normal: OpenAI;

  beforeAll(async () => {
    [first, second, installation] = await Promise.all([
      startSimulator(PROMPT_MODEL),
      startSimulator(PROMPT_MODEL),
      startInstallation(),
    ]);
    const { url } = await installation.start('all', {
      providers: { one: { base_url: first.url }, two: { base_url: second.url } },
      models: {
        primary: { provider: 'one', first_token_timeout_ms: 600, timeout_ms: 1_200 },
        secondary: { provider: 'two', first_token_timeout_ms: 600, timeout_ms: 1_200 },
      },
      routes: {
        assistant: { chain: ['primary', 'secondary'], fallback_response: { critical: APOLOGY, normal: null } },
      },
    });
    critical = callerOf(url, { path: '/critical/v1' });
    normal = callerOf(url, { path: '/normal/v1' });
  });

  afterAll(async () => {
    await installation.stop();
    await Promise.all([first.close(), second.close()]);
  });

  const resurrect = async (): Promise<void> => {
    first = await startSimulator({ ...PROMPT_MODEL, port: first.port });
    second = await startSimulator({ ...PROMPT_MODEL, port: second.port });
  };

  describe('the first model is killed', () => {
    beforeAll(() => first.close());
    afterAll(async () => {
      await second.close();
      await resurrect();
    });

    it('the second answers, and the answer says so', async () => {
      const { text, headers } = await ask(normal, 'assistant', 'is anybody there?');
      expect(text).toContain('is anybody there?');
      expect(Object.fromEntries(headers)).toMatchObject({
        'x-spillway-outcome': 'fallback-model',
        'x-spillway-degraded': 'fallback-model',
        'x-spillway-model': 'secondary',
        'x-spillway-attempts': '2',
      });
    });

    it('the same in a stream', async () => {
      const { text, headers } = await askForStream(normal, 'assistant', 'word by word');
      expect(text).toContain('word by word');
      expect(headers.get('x-spillway-degraded')).toBe('fallback-model');
      expect(headers.get('x-spillway-model')).toBe('secondary');
    });

    it('the same for embeddings', async () => {
      const { data, response } = await normal.embeddings.create({ model: 'assistant', input: 'a text' }).withResponse();
      expect(data.data).toHaveLength(1);
      expect(response.headers.get('x-spillway-outcome')).toBe('fallback-model');
    });
  });

  it('the first answers again as soon as it is back', async () => {
    const { headers } = await ask(normal, 'assistant', 'is anybody there?');
    expect(headers.get('x-spillway-outcome')).toBe('generated');
    expect(headers.get('x-spillway-model')).toBe('primary');
  });

  describe('every model is killed', () => {
    beforeAll(() => Promise.all([first.close(), second.close()]));
    afterAll(resurrect);

    it('a class with a fallback response gets its text', async () => {
      for (let round = 1; round <= 2; round++) {
        const { completion, headers } = await ask(critical, 'assistant', 'help!');
        expect(completion).toMatchObject({
          object: 'chat.completion',
          choices: [{ message: { role: 'assistant', content: APOLOGY }, finish_reason: 'stop' }],
          usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
        });
        expect(Object.fromEntries(headers)).toMatchObject({
          'x-spillway-outcome': 'fallback-response',
          'x-spillway-degraded': 'fallback-response',
          'x-spillway-cache': 'MISS',
          'x-spillway-attempts': '2',
        });
        expect(headers.has('x-spillway-model')).toBe(false);
      }
    });

    it('the same as a stream', async () => {
      const { text, chunks, headers } = await askForStream(critical, 'assistant', 'help me slowly!');
      expect(text).toBe(APOLOGY);
      expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('stop');
      expect(headers.get('x-spillway-degraded')).toBe('fallback-response');
    });

    it('a class without one gets the error', async () => {
      for (const call of [ask(normal, 'assistant', 'help!'), askForStream(normal, 'assistant', 'help!')]) {
        expect(await failureOf(call)).toMatchObject({ status: 502, code: 'upstream_error' });
      }
    });

    it('embeddings get the error in any class: a text is no vector', async () => {
      const error = await failureOf(critical.embeddings.create({ model: 'assistant', input: 'a text' }));
      expect(error).toMatchObject({ status: 502, code: 'upstream_error' });
    });
  });

  describe.each([
    { what: 'are too busy', fault: { kind: 'status', reason: 'rpm', retry_after_ms: 2_000 }, status: 503 },
    { what: 'say nothing', fault: { kind: 'hang' }, status: 504 },
  ] as const)('all models $what', ({ fault, status }) => {
    beforeAll(() => {
      first.configure('primary', { faults: [fault] });
      second.configure('secondary', { faults: [fault] });
    });
    afterAll(() => [first, second].forEach(simulator => simulator.reset()));

    it(`a class without a fallback response gets ${status} and when to come back`, async () => {
      const error = await failureOf(ask(normal, 'assistant', `what about ${status}?`));
      expect(error.status).toBe(status);
      expect(error.code).toBe(status === 503 ? 'no_model_available' : 'upstream_timeout');
      expect(Number(error.headers?.get('retry-after'))).toBe(status === 503 ? 2 : 1);
    });

    it('a class with one gets its text', async () => {
      expect((await ask(critical, 'assistant', `what about ${status}?`)).text).toBe(APOLOGY);
      expect((await askForStream(critical, 'assistant', `what about ${status}?`)).text).toBe(APOLOGY);
    });
  });

  it('an answer given while a model was gone is not remembered', async () => {
    const { text, headers } = await ask(critical, 'assistant', 'help!');
    expect(text).toContain('help!');
    expect(headers.get('x-spillway-cache')).toBe('MISS');
  });

  it('a stream that breaks after its first words ends with an error, without the words of another model', async () => {
    first.configure('primary', { faults: [{ kind: 'reset', after_chunks: 3 }] });
    const call = critical.chat.completions.create({
      model: 'assistant',
      stream: true,
      messages: [{ role: 'user', content: 'go on and on and on' }],
    });
    let text = '';
    const error = await failureOf(
      (async () => {
        for await (const chunk of await call) text += chunk.choices[0]?.delta.content ?? '';
      })(),
    );
    expect(text.length).toBeGreaterThan(0);
    expect(error.code).toBe('upstream_error');
    expect(second.requests('secondary').filter(({ body }) => body.includes('go on and on'))).toHaveLength(0);
  });
});
