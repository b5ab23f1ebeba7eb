import { setTimeout as pause } from 'node:timers/promises';
import { SystemClock } from '@spillway/contracts';
import { Providers } from '@spillway/providers';
import { CapturedLog } from '../../../../test/support/captured-log';
import { startUpstream, type Upstream } from '../../../../test/support/scripted-upstream';
import { modelAt } from '../../../../test/support/upstream-models';
import type { Step } from '../../../../test/support/upstream-step';
import { EndpointEmbedder } from './endpoint-embedder';
import { HelperUnavailable } from './helper-guard';

let upstream: Upstream;
let providers: Providers;
let log: CapturedLog;
const made: EndpointEmbedder[] = [];

beforeAll(async () => {
  upstream = await startUpstream([]);
});
afterAll(() => upstream.close());
beforeEach(() => {
  providers = new Providers(new SystemClock(), { note: () => undefined });
  log = new CapturedLog();
});
afterEach(async () => {
  for (const embedder of made.splice(0)) embedder.onApplicationShutdown();
  await providers.onApplicationShutdown();
});

function embedderWith(limits: ConstructorParameters<typeof EndpointEmbedder>[3] = {}): EndpointEmbedder {
  const { provider } = modelAt(upstream.url);
  const embedder = new EndpointEmbedder({ provider, model: 'small' }, providers, log, { deadlineMs: 2000, ...limits });
  made.push(embedder);
  return embedder;
}

interface Asked {
  readonly model: string;
  readonly input: readonly string[];
  readonly encoding_format: string;
}

const asked = (at = 0): Asked => JSON.parse(upstream.requests[at]?.body ?? '') as Asked;

/** Vectors that tell which text they are of. */
const vectorsFor = (input: readonly string[], dimension = 4): number[][] =>
  input.map(text => Array.from({ length: dimension }, (_, index) => (index === text.length % dimension ? 2 : 0)));

const answerWith = (entries: readonly object[]): Step => ({
  status: 200,
  json: { object: 'list', data: entries, model: 'small' },
});

function answering(dimension = 4): (request: { readonly body: string }) => Step {
  return ({ body }) => {
    const vectors = vectorsFor((JSON.parse(body) as Asked).input, dimension);
    return answerWith(vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })));
  };
}

describe('EndpointEmbedder', () => {
  it('sends texts as they are but for spaces around them, and asks for numbers', async () => {
    upstream.script(answering());
    const embedder = embedderWith();
    expect(embedder.dimension).toBeNull();
    const vectors = await embedder.embed(['  Is it ＷATERPROOF?\n', '这款手机']);
    expect(upstream.requests[0]?.url).toBe('/v1/embeddings');
    expect(asked()).toEqual({ model: 'small', input: ['Is it ＷATERPROOF?', '这款手机'], encoding_format: 'float' });
    expect(vectors).toEqual([Float32Array.of(0, 1, 0, 0), Float32Array.of(1, 0, 0, 0)]);
    expect(embedder.dimension).toBe(4);
  });

  it('understands base64, and vectors in another order', async () => {
    const base64 = (...numbers: number[]) => Buffer.from(Float32Array.from(numbers).buffer).toString('base64');
    upstream.script([
      answerWith([
        { index: 1, embedding: base64(0, -5) },
        { index: 0, embedding: base64(3, 4) },
      ]),
    ]);
    const [a, b] = await embedderWith().embed(['a', 'b']);
    expect(Array.from(a ?? [], value => value.toFixed(3))).toEqual(['0.600', '0.800']);
    expect(b).toEqual(Float32Array.of(0, -1));
  });

  it('gathers what is asked at the same time, 64 texts at most, and asks for each text once', async () => {
    upstream.script(answering());
    const embedder = embedderWith();
    const texts = Array.from({ length: 100 }, (_, index) => `text ${index}`);
    await Promise.all([...texts, ...texts].map(text => embedder.embed([text])));
    expect(upstream.requests.map((_, at) => asked(at).input.length)).toEqual([64, 36]);
    await embedder.embed(texts);
    expect(upstream.requests).toHaveLength(2);
    await embedder.embed(['text 0', 'new']);
    expect(asked(2).input).toEqual(['new']);
  });

  it('cuts long texts, never within a character', async () => {
    upstream.script(answering());
    const embedder = embedderWith();
    await embedder.embed([`${'x'.repeat(5999)}🚀${'y'.repeat(100_000)}`]);
    await embedder.embed(['问'.repeat(7000)]);
    expect(asked(0).input[0]).toBe('x'.repeat(5999));
    expect(asked(1).input[0]).toBe('问'.repeat(6000));
  });

  it('asks nothing for nothing', async () => {
    upstream.script(answering());
    const embedder = embedderWith();
    await expect(embedder.embed([' \n'])).rejects.toThrow(HelperUnavailable);
    expect(await embedder.embed([])).toEqual([]);
    expect(upstream.requests).toHaveLength(0);
    expect(embedder.guard.state).toBe('ok');
  });

  it.each<[string, Step]>([
    ['no vectors', { status: 200, json: { object: 'list' } }],
    ['too few', answerWith([])],
    [
      'the same place twice',
      answerWith([
        { index: 0, embedding: [1] },
        { index: 0, embedding: [1] },
      ]),
    ],
    [
      'an empty vector',
      answerWith([
        { index: 0, embedding: [1] },
        { index: 1, embedding: [] },
      ]),
    ],
    [
      'zeros',
      answerWith([
        { index: 0, embedding: [1] },
        { index: 1, embedding: [0] },
      ]),
    ],
    [
      'text',
      answerWith([
        { index: 0, embedding: [1] },
        { index: 1, embedding: ['1'] },
      ]),
    ],
    [
      'half a number',
      answerWith([
        { index: 0, embedding: [1] },
        { index: 1, embedding: 'AAA' },
      ]),
    ],
    ['no vector', answerWith([{ index: 0, embedding: [1] }, { index: 1 }])],
    [
      'two dimensions',
      answerWith([
        { index: 0, embedding: [1] },
        { index: 1, embedding: [1, 1] },
      ]),
    ],
    ['something else', { status: 200, text: '<html>' }],
    ['a refusal', { status: 400, json: { error: { message: 'no', code: null } } }],
    ['another address', { status: 404, json: { error: { message: 'no', code: null } } }],
    ['a rate limit', { status: 429, json: { error: { message: 'no', code: 'rate_limit_exceeded' } } }],
    ['an error', { status: 500, json: { error: { message: 'no', code: null } } }],
    ['a reset', { no_response: 'reset' }],
  ])('is unavailable, not wrong: %s', async (_, step) => {
    upstream.script([step]);
    await expect(embedderWith().embed(['a', 'b'])).rejects.toThrow(HelperUnavailable);
  });

  it('refuses vectors of another dimension than before, and says so once', async () => {
    upstream.script(answering(4));
    const embedder = embedderWith({ failures: 2 });
    await embedder.embed(['a']);
    upstream.script(answering(6));
    for (const text of ['b', 'c', 'd']) await expect(embedder.embed([text])).rejects.toThrow(HelperUnavailable);
    expect(embedder.dimension).toBe(4);
    expect(log.lines).toHaveLength(1);
    expect(log.lines[0]?.fields).toEqual({ part: 'embedder', reason: 'vectors of 6 numbers after 4' });
    expect(await embedder.embed(['a'])).toHaveLength(1);
  });

  it('finds out without traffic that nobody answers there any more, and asks nothing of it while somebody does', async () => {
    const own = await startUpstream([]);
    const { provider } = modelAt(own.url);
    const embedder = new EndpointEmbedder({ provider, model: 'small' }, providers, log, { probeEveryMs: 10 });
    made.push(embedder);
    await pause(100);
    expect(embedder.guard.state).toBe('ok');
    expect(own.requests).toHaveLength(0);
    await own.close();
    while (embedder.guard.state === 'ok') await pause(10);
    expect(log.lines[0]?.fields).toEqual({ part: 'embedder', reason: 'network' });
  });

  it('leaves a hanging endpoint alone after some failures, and is back when it is', async () => {
    upstream.script([{ no_response: 'hang' }]);
    const embedder = embedderWith({ deadlineMs: 60, failures: 2, probeEveryMs: 20 });
    const states: string[] = [];
    embedder.guard.onStateChange(state => states.push(state));
    for (const text of ['a', 'b', 'c', 'd']) {
      const start = performance.now();
      await expect(embedder.embed([text])).rejects.toThrow(HelperUnavailable);
      expect(performance.now() - start).toBeLessThan(5000);
    }
    expect(
      upstream.requests.map(({ body }) => (JSON.parse(body) as Asked).input[0]).filter(text => text !== 'ping'),
    ).toEqual(['a', 'b']);
    upstream.script(answering());
    while (embedder.guard.state === 'lost') await pause(10);
    expect(await embedder.embed(['a'])).toHaveLength(1);
    expect(states).toEqual(['lost', 'ok']);
    expect(log.lines.map(({ level }) => level)).toEqual(['warn', 'info']);
    const pings = upstream.requests.length;
    await pause(60);
    expect(upstream.requests).toHaveLength(pings);
  });
});
