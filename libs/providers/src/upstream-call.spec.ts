import { getEventListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { SystemClock, type AnswerPart, type ModelSettings } from '@spillway/contracts';
import { startUpstream, type Upstream } from '../../../test/support/scripted-upstream';
import { modelAt } from '../../../test/support/upstream-models';
import type { StreamItem } from '../../../test/support/upstream-step';
import { Providers } from './providers';
import type { TimeLimit } from './upstream-failure';

const chunk = (content: string, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta: { content }, finish_reason }],
});
const WHOLE = { choices: [{ index: 0, message: { content: 'pong' }, finish_reason: 'stop' }] };
const STREAM: StreamItem[] = [chunk('po'), chunk('ng'), chunk('', 'stop'), '[DONE]'];
const SSE = { 'content-type': 'text/event-stream' };

let upstream: Upstream;
let providers: Providers;

beforeAll(async () => {
  upstream = await startUpstream([]);
  providers = new Providers(new SystemClock(), { note: () => undefined });
});
afterAll(async () => {
  await providers.onApplicationShutdown();
  await upstream.close();
});

interface Asked extends Partial<Pick<ModelSettings, 'timeout_ms' | 'first_token_timeout_ms' | 'idle_timeout_ms'>> {
  readonly streaming?: boolean;
  readonly signal?: AbortSignal;
}

async function ask({ streaming = true, signal = new AbortController().signal, ...limits }: Asked): Promise<string[]> {
  const model = modelAt(upstream.url, limits);
  const answer = await providers.chat(model, { messages: [] }, { streaming, signal, headers: {} });
  const all: string[] = [];
  for await (const part of answer.parts) all.push(part.json);
  return all;
}

/** Waits until the upstream has seen its first request end, and says whether it was cut off. */
async function wasCutOff(): Promise<boolean> {
  for (let count = 0; count < 200; count++) {
    const request = upstream.requests[0];
    if (request?.closed_at) return !request.finished;
    await sleep(5);
  }
  return false;
}

const brokenLimit = (timeLimit: TimeLimit) => ({ kind: 'timeout', timeLimit });

describe('the limits of time', () => {
  it('end a call that does not answer', async () => {
    upstream.script([{ no_response: 'hang' }]);
    await expect(ask({ streaming: false, timeout_ms: 60 })).rejects.toMatchObject(brokenLimit('total'));
    expect(await wasCutOff()).toBe(true);
  });

  it('end an answer that trickles on', async () => {
    upstream.script([
      { headers: SSE, sse: [{ drip: { text: `data: ${JSON.stringify(chunk('x'))}\n\n`, every_ms: 10, count: 1000 } }] },
    ]);
    await expect(ask({ timeout_ms: 800, idle_timeout_ms: 500 })).rejects.toMatchObject(brokenLimit('total'));
    expect(await wasCutOff()).toBe(true);
  });

  it('take neither comments nor empty chunks for the first content', async () => {
    const waiting = [{ raw: ': x\n\n' }, chunk(''), { drip: { text: ': x\n', every_ms: 10, count: 1000 } }];
    upstream.script([{ headers: SSE, sse: waiting }]);
    await expect(ask({ first_token_timeout_ms: 300 })).rejects.toMatchObject(brokenLimit('first-token'));
  });

  it('leave a stream its time once it has begun', async () => {
    upstream.script([{ headers: SSE, sse: STREAM, gap_ms: 600 }]);
    await expect(ask({ first_token_timeout_ms: 500, idle_timeout_ms: 5000 })).resolves.toHaveLength(3);
  });

  it('do not want a whole answer to begin early', async () => {
    upstream.script([{ json: WHOLE, ttfb_ms: 100 }]);
    const limits = { streaming: false, first_token_timeout_ms: 20, idle_timeout_ms: 20 };
    await expect(ask(limits)).resolves.toHaveLength(1);
  });

  it('end a stream that falls silent, but not a complete one', async () => {
    upstream.script([
      { headers: SSE, sse: [chunk('po')], end: 'hang' },
      { headers: SSE, sse: STREAM.slice(0, 3), end: 'hang' },
    ]);
    await expect(ask({ idle_timeout_ms: 300 })).rejects.toMatchObject(brokenLimit('idle'));
    await expect(ask({ idle_timeout_ms: 300 })).resolves.toHaveLength(3);
  });

  it('wait for the end of an error only shortly', async () => {
    upstream.script([{ status: 404, text: '{"error":', end: 'hang' }]);
    const startedAt = performance.now();
    const answer = { status: 404, text: expect.stringMatching(/^\{"error":\{.*\}\}$/) as string };
    await expect(ask({ idle_timeout_ms: 20_000 })).rejects.toMatchObject({ kind: 'caller-fault', answer });
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(await wasCutOff()).toBe(true);
  });

  it('see blanks before a whole answer as a sign of life', async () => {
    const blank = [{ text: '\n' }, { sleep: 200 }];
    upstream.script([{ body_parts: [...blank, ...blank, ...blank, { json: WHOLE }] }]);
    await expect(ask({ streaming: false, idle_timeout_ms: 500 })).resolves.toHaveLength(1);
  });

  it('blame nobody for the slowness of the reader', async () => {
    upstream.script([{ headers: SSE, sse: STREAM }]);
    const model = modelAt(upstream.url, { idle_timeout_ms: 150 });
    const options = { streaming: true, signal: new AbortController().signal, headers: {} };
    let count = 0;
    for await (const _part of (await providers.chat(model, { messages: [] }, options)).parts) {
      count++;
      await sleep(200);
    }
    expect(count).toBe(3);
  });
});

describe('the signal of a call', () => {
  it.each([
    ['before the answer', { no_response: 'hang' as const }],
    ['within a whole answer', { body_parts: [{ text: '{"cho' }], end: 'hang' as const }],
    ['within a stream', { headers: SSE, sse: [chunk('po')], end: 'hang' as const }],
    ['within an error', { status: 400, text: '{"err', end: 'hang' as const }],
  ])('aborts it %s, with its reason', async (_name, step) => {
    upstream.script([step]);
    const controller = new AbortController();
    const reason = new Error('the caller left');
    setTimeout(() => controller.abort(reason), 50);
    await expect(ask({ signal: controller.signal })).rejects.toBe(reason);
    expect(await wasCutOff()).toBe(true);
  });

  it('makes no call if it is aborted already', async () => {
    upstream.script([{ json: WHOLE }]);
    const reason = new Error('the caller left');
    await expect(ask({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(upstream.requests).toHaveLength(0);
  });

  it('keeps no listener of a call that is over, however it ended', async () => {
    const { signal } = new AbortController();
    upstream.script([
      { json: WHOLE },
      { headers: SSE, sse: STREAM },
      { status: 500 },
      { no_response: 'reset' },
      { text: '{' },
    ]);
    for (let count = 0; count < 5; count++) await ask({ signal }).catch(() => undefined);
    upstream.script([{ no_response: 'hang' }]);
    await ask({ signal, timeout_ms: 30 }).catch(() => undefined);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});

describe('an answer that is left early', () => {
  it.each<[string, (parts: AsyncIterator<AnswerPart>) => Promise<unknown>]>([
    ['before its first part', () => Promise.resolve()],
    ['after a part', parts => parts.next()],
    [
      'while a part is awaited',
      async parts => {
        await parts.next();
        parts.next().catch(() => undefined);
      },
    ],
  ])('%s is cut off upstream', async (_name, begin) => {
    const { signal } = new AbortController();
    upstream.script([{ headers: SSE, sse: [chunk('po')], end: 'hang' }]);
    const options = { streaming: true, signal, headers: {} };
    const answer = await providers.chat(modelAt(upstream.url), { messages: [] }, options);
    const parts = answer.parts[Symbol.asyncIterator]();
    await begin(parts);
    await parts.return?.();
    expect(await wasCutOff()).toBe(true);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});

it('pauses an upstream that is faster than the reader', async () => {
  // About 20 MB: more than the sockets' buffers hold. Few and large, so that a slow machine reads them in time.
  const large = Array.from({ length: 300 }, () => ({ gen_text: 65_536 }));
  upstream.script([{ headers: SSE, sse: [...large, chunk('', 'stop'), '[DONE]'] }]);
  const options = { streaming: true, signal: new AbortController().signal, headers: {} };
  const answer = await providers.chat(modelAt(upstream.url, { timeout_ms: 20_000 }), { messages: [] }, options);
  await sleep(300);
  expect(upstream.requests[0]?.closed_at).toBeNull();
  let count = 0;
  for await (const _part of answer.parts) count++;
  expect(count).toBe(301);
});
