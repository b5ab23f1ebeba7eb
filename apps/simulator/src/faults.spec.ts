import { FaultDice } from './faults';
import { seededRandom } from './random';
import type { Fault } from './settings';
import { startSimulator, type Simulator } from './simulator';

describe('FaultDice', () => {
  const draw = (faults: readonly Fault[], calls: number): (string | undefined)[] => {
    const dice = new FaultDice(faults, seededRandom(3));
    return Array.from({ length: calls }, () => dice.next()?.kind);
  };

  it('counts what it lets pass and how often it strikes', () => {
    expect(draw([{ kind: 'hang', after: 1, times: 2 }], 5)).toEqual([undefined, 'hang', 'hang', undefined, undefined]);
  });

  it('strikes with its probability, the same for the same seed', () => {
    const faults: Fault[] = [{ kind: 'status', probability: 0.3 }];
    const struck = draw(faults, 2000).filter(Boolean).length;
    expect(struck).toBeGreaterThan(500);
    expect(struck).toBeLessThan(700);
    expect(draw(faults, 50)).toEqual(draw(faults, 50));
  });
});

describe('faults over HTTP', () => {
  let simulator: Simulator;
  beforeAll(async () => {
    simulator = await startSimulator({ defaultModel: { latency: { first_token_ms: 0, tokens_per_s: 0 } } });
  });
  afterAll(() => simulator.close());
  afterEach(() => simulator.reset());

  const chat = (fault: Fault, stream: boolean, signal: AbortSignal | null = null): Promise<Response> => {
    simulator.configure('m', { faults: [fault] });
    const body = JSON.stringify({ model: 'm', stream, messages: [{ role: 'user', content: 'tell me something' }] });
    return fetch(`${simulator.url}/chat/completions`, { method: 'POST', body, signal });
  };

  it('fails with a status, plainly or in the words of the family', async () => {
    expect((await chat({ kind: 'status', status: 502 }, true)).status).toBe(502);
    const overloaded = await chat({ kind: 'status', reason: 'overloaded', retry_after_ms: 2500 }, true);
    expect(overloaded.status).toBe(503);
    expect(overloaded.headers.get('retry-after')).toBe('3');
    expect(await overloaded.json()).toMatchObject({ error: { code: 'server_is_overloaded' } });
    expect(simulator.stats()['m']?.faults).toEqual({ status: 2 });
  });

  it('answers with a page', async () => {
    const answer = await chat({ kind: 'html' }, false);
    expect(answer.status).toBe(502);
    expect(await answer.text()).toContain('<html>');
  });

  it.each(['reset', 'refuse'] as const)('breaks off before any answer: %s', async kind => {
    await expect(chat({ kind }, true)).rejects.toThrow('fetch failed');
    expect(simulator.stats()['m']).toMatchObject({ inflight: 0, aborted: 0 });
  });

  it.each([
    ['truncated', true],
    ['truncated', false],
    ['reset', true],
    ['reset', false],
  ] as const)('breaks off in the middle: %s, streamed: %s', async (kind, stream) => {
    const answer = await chat({ kind, after_chunks: 3 }, stream);
    expect(answer.status).toBe(200);
    await expect(answer.text()).rejects.toThrow('terminated');
  });

  it('leaves out the end of a stream', async () => {
    const text = await (await chat({ kind: 'no-finish' }, true)).text();
    expect(text).toContain('"content":"This"');
    expect(text).not.toContain('"stop"');
    expect(text).not.toContain('[DONE]');
  });

  it('reports an error in the middle of a stream', async () => {
    const text = await (await chat({ kind: 'error-event' }, true)).text();
    expect(text).toMatch(/data: \{"error":\{[^\n]*\n\n$/);
  });

  it('sends what no parser takes', async () => {
    await expect((await chat({ kind: 'malformed' }, false)).json()).rejects.toThrow('JSON');
    const events = (await (await chat({ kind: 'malformed' }, true)).text()).split('\n\n').filter(Boolean);
    const broken = events.filter(event => {
      try {
        JSON.parse(event.slice('data: '.length));
        return false;
      } catch {
        return !event.endsWith('[DONE]');
      }
    });
    expect(broken).toHaveLength(1);
  });

  it('keeps a connection busy without an answer', async () => {
    const leave = new AbortController();
    const answer = await chat({ kind: 'drip', every_ms: 5 }, true, leave.signal);
    let drops = '';
    for await (const block of answer.body ?? []) {
      drops += Buffer.from(block).toString();
      if (drops.length > 60) break;
    }
    expect(drops).toMatch(/^(: waiting\n\n)+$/);
    leave.abort();
  });

  it('answers badly', async () => {
    const said = async (
      kind: Fault['kind'],
    ): Promise<{ message: { content: string }; finish_reason: string | null }> => {
      const { choices } = (await (await chat({ kind }, false)).json()) as {
        choices: { message: { content: string }; finish_reason: string | null }[];
      };
      return choices[0] ?? { message: { content: 'none' }, finish_reason: 'none' };
    };
    expect(await said('empty')).toMatchObject({ message: { content: '' }, finish_reason: 'stop' });
    expect(await said('content-filter')).toMatchObject({ finish_reason: 'content_filter' });
    expect((await said('repeat')).message.content).toContain('repeats itself. The simulator repeats itself');
    expect((await said('no-finish')).finish_reason).toBeNull();
  });

  it('is slower by a factor', async () => {
    simulator.configure('m', { latency: { first_token_ms: 20, tokens_per_s: 0 } });
    const before = performance.now();
    await (await chat({ kind: 'slow', factor: 10 }, false)).text();
    expect(performance.now() - before).toBeGreaterThan(190);
  });

  it('also strikes embeddings', async () => {
    simulator.configure('e', { faults: [{ kind: 'malformed' }] });
    const body = JSON.stringify({ model: 'e', input: 'x' });
    const answer = await fetch(`${simulator.url}/embeddings`, { method: 'POST', body });
    await expect(answer.json()).rejects.toThrow('JSON');
  });
});
