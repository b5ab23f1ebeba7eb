import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ask, askForStream, callerOf, failureOf } from '../support/caller';
import { startInstallation, type Installation } from '../support/installation';
import { eventually, underWayAt, waitingAt } from '../support/operator';
import type { SpillwayProcess } from '../support/spillway';

const LONG_ANSWER = { latency: { first_token_ms: 800, tokens_per_s: 80 } };

const configuration = (changes: object = {}): object => ({
  models: {
    free: { provider: 'simulator' },
    single: { provider: 'simulator', limits: { inflight: 1 }, headroom: 0 },
  },
  routes: { assistant: { chain: ['free'] } },
  scheduling: { express: false },
  ...changes,
});

describe('a process that is told to stop', () => {
  let installation: Installation;

  beforeAll(async () => {
    installation = await startInstallation();
  });

  afterEach(() => installation.clear());
  afterAll(() => installation.stop());

  const asked = (model: string): number => installation.simulator.requests(model).length;
  const readiness = async ({ url }: SpillwayProcess): Promise<number> => (await fetch(`${url}/readyz`)).status;

  it.each(['SIGTERM', 'SIGINT'] as const)(
    '%s: takes nobody in, finishes calls under way, exits with 0',
    async signal => {
      const [gateway] = await Promise.all([
        installation.start('gateway', configuration()),
        installation.start('worker', configuration()),
      ]);
      installation.simulator.configure('free', LONG_ANSWER);
      installation.simulator.configure('single', LONG_ANSWER);
      const caller = callerOf(gateway.url);
      const whole = ask(caller, 'assistant', 'whole');
      const stream = askForStream(caller, 'assistant', 'stream');
      const running = ask(caller, 'single', 'running');
      await eventually(() => asked('free') === 2 && asked('single') === 1);
      const waiting = ask(caller, 'single', 'waiting');
      await eventually(async () => (await waitingAt(gateway)) === 1);

      gateway.kill(signal);
      await eventually(async () => (await readiness(gateway)) === 503);
      const error = await failureOf(ask(caller, 'assistant', 'too late'));
      expect(error).toMatchObject({ status: 503, code: 'shutting_down' });
      expect(error.headers?.get('x-should-retry')).toBe('true');
      expect(Number(error.headers?.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(error.headers?.get('x-spillway-outcome')).toBe('shutting-down');

      expect((await whole).text).toContain('whole');
      const streamed = await stream;
      expect(streamed.text).toContain('stream');
      expect(streamed.chunks.at(-1)?.choices[0]?.finish_reason).toBe('stop');
      expect((await running).text).toContain('running');
      expect((await waiting).text).toContain('waiting');
      expect(await gateway.ended()).toBe(0);
      expect(installation.simulator.stats()['free']).toMatchObject({ accepted: 2, aborted: 0 });
    },
  );

  it('cuts off what is not finished in time, and says so', async () => {
    const short = configuration({ server: { drain_ms: 700 } });
    const [gateway, other] = await Promise.all([
      installation.start('gateway', short),
      installation.start('gateway', short),
      installation.start('worker', short),
    ]);
    const caller = callerOf(gateway.url);
    installation.simulator.configure('free', { latency: { first_token_ms: 0, tokens_per_s: 2 } });
    installation.simulator.configure('single', { latency: { first_token_ms: 60_000 } });
    const whole = failureOf(ask(caller, 'single', 'whole'));
    let streamedText = '';
    const stream = failureOf(
      (async () => {
        const messages = [{ role: 'user' as const, content: 'a very long story' }];
        const chunks = await caller.chat.completions.create({ model: 'assistant', stream: true, messages });
        for await (const chunk of chunks) streamedText += chunk.choices[0]?.delta.content ?? '';
      })(),
    );
    await eventually(() => streamedText !== '' && asked('single') === 1);
    const waiting = failureOf(ask(caller, 'single', 'waiting'));
    await eventually(async () => (await waitingAt(gateway)) === 1);

    const startedAt = Date.now();
    expect(await gateway.stop()).toBe(0);
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(699);
    for (const error of await Promise.all([whole, waiting])) {
      expect(error).toMatchObject({ status: 503, code: 'shutting_down' });
      expect(error.headers?.get('x-should-retry')).toBe('true');
    }
    expect((await stream).code).toBe('shutting_down');
    await eventually(() => installation.simulator.stats()['single']?.inflight === 0);
    await eventually(async () => (await underWayAt(other)) === 0);
    expect(await waitingAt(other)).toBe(0);
  });

  it('stops at once when nothing is under way, although callers keep their connections', async () => {
    const gateway = await installation.start('all', configuration());
    await ask(callerOf(gateway.url), 'assistant', 'hello');
    const startedAt = Date.now();
    expect(await gateway.stop()).toBe(0);
    expect(Date.now() - startedAt).toBeLessThan(10_000);
  });

  it('sends a large answer whole to a caller that reads slowly', async () => {
    const [gateway] = await Promise.all([
      installation.start('gateway', configuration()),
      installation.start('worker', configuration()),
    ]);
    const text = 'a'.repeat(8_000_000);
    installation.simulator.configure('free', { answer: { mode: 'fixed', text } });
    const socket = post(gateway.url, { model: 'assistant', messages: [{ role: 'user', content: 'all of it' }] });
    await eventually(() => gateway.logLines().some(line => line['outcome'] === 'generated'));
    gateway.kill('SIGTERM');
    await eventually(async () => (await readiness(gateway)) === 503);
    let answer = '';
    for await (const piece of socket.setEncoding('utf8')) answer += piece as string;
    expect(answer).toContain(text);
    expect(answer.trimEnd().endsWith('}')).toBe(true);
    expect(await gateway.ended()).toBe(0);
  });

  it.each([
    { caller: 'does not read its stream', sent: 1 },
    { caller: 'never ends its request', sent: 0.5 },
  ])('does not wait beyond its time for a caller that $caller', async ({ sent }) => {
    const gateway = await installation.start('all', configuration({ server: { drain_ms: 500 } }));
    installation.simulator.configure('free', { answer: { mode: 'lengths', tokens: 200_000 } });
    const messages = [{ role: 'user', content: 'on and on' }];
    const socket = post(gateway.url, { model: 'assistant', stream: true, messages }, sent);
    if (sent === 1) await eventually(() => asked('free') === 1);
    await sleep(500);
    const startedAt = Date.now();
    expect(await gateway.stop()).toBe(0);
    expect(Date.now() - startedAt).toBeLessThan(10_000);
    socket.destroy();
  });

  it('a worker leaves in order while tickets wait, and another takes over', async () => {
    const [gateway, worker] = await Promise.all([
      installation.start('gateway', configuration()),
      installation.start('worker', configuration()),
    ]);
    installation.simulator.configure('single', { latency: { first_token_ms: 100 } });
    const caller = callerOf(gateway.url);
    const calls = Array.from({ length: 20 }, (_, index) => ask(caller, 'single', `question ${index}`));
    await eventually(() => asked('single') > 2);
    expect(await worker.stop()).toBe(0);
    const without = asked('single');
    expect(without).toBeLessThan(20);
    await installation.start('worker', configuration());
    await Promise.all(calls);
    expect(asked('single')).toBe(20);
  });
});

/** Sends the first part of a call by hand, and reads nothing until told to. */
function post(url: string, body: object, part = 1): Socket {
  const text = JSON.stringify(body);
  const head = ['POST /v1/chat/completions HTTP/1.1', 'host: spillway', 'connection: close'];
  const length = [`content-length: ${Buffer.byteLength(text)}`, 'content-type: application/json'];
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.pause();
  socket.on('error', () => undefined);
  socket.write([...head, ...length, '', text.slice(0, Math.ceil(text.length * part))].join('\r\n'));
  return socket;
}
