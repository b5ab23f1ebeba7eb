import { getEventListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  DeadlineExceeded,
  ModelNotFound,
  SystemClock,
  partsOf,
  wholePart,
  type Answer,
  type Call,
} from '@spillway/contracts';
import { incomingCall } from '../../../test/support/calls';
import { configStore } from '../../../test/support/settings';
import { ClassifyStage, classify } from './classify.stage';

const config = configStore({
  providers: { local: { base_url: 'http://127.0.0.1:9/v1' } },
  models: { best: { provider: 'local' }, cheap: { provider: 'local' } },
  routes: { assistant: { chain: ['best', 'cheap'], chain_by_priority: { low: ['cheap'] } } },
  priorities: { critical: { max_wait_ms: 1_000 }, low: { deadline_ms: 9_000 } },
  classify: [
    { when: { header: { 'X-Feature': 'chat' } }, priority: 'critical' },
    { when: { header: { 'X-Page': 'Küche' } }, priority: 'critical' },
    { when: { route: 'best' }, priority: 'low' },
  ],
});
const settings = config.current;
const answer: Answer = { outcome: 'generated', parts: partsOf(wholePart({})) };

describe('the class of a call', () => {
  it('is what the caller asks for, else the first matching rule, else the key’s, never above its maximum', () => {
    const classOf = (changes: Parameters<typeof incomingCall>[0]) => classify(incomingCall(changes), settings).priority;
    expect(classOf({ controls: { priority: 'low' }, headers: { 'x-feature': 'chat' } })).toBe('low');
    expect(classOf({ headers: { 'x-feature': 'chat' } })).toBe('critical');
    expect(classOf({ headers: { 'x-page': Buffer.from('Küche').toString('latin1') } })).toBe('critical');
    expect(classOf({ body: { model: 'best' } })).toBe('low');
    expect(classOf({ caller: { priority: 'low' } })).toBe('low');
    expect(classOf({})).toBe('normal');
    expect(classOf({ controls: { priority: 'critical' }, caller: { max_priority: 'normal' } })).toBe('normal');
  });

  it('shows when it was lowered', () => {
    const call = incomingCall({ controls: { priority: 'critical' }, caller: { max_priority: 'low' } });
    classify(call, settings);
    expect(call.journal.requestedPriority).toBe('critical');
  });

  it('is known of a call for a model that there is not', () => {
    const call = incomingCall({ body: { model: 'gpt-9' }, controls: { priority: 'critical' } });
    expect(() => classify(call, settings)).toThrow(ModelNotFound);
    expect(call.journal.priority).toBe('critical');
  });
});

describe('the chain of a call', () => {
  const chainOf = (model: string, priority: 'normal' | 'low') =>
    classify(incomingCall({ body: { model }, controls: { priority } }), settings).models.map(({ name }) => name);

  it('is the route’s, a class’s own one before it', () => {
    expect(chainOf('assistant', 'normal')).toEqual(['best', 'cheap']);
    expect(chainOf('assistant', 'low')).toEqual(['cheap']);
  });

  it('is a single model where the call names one', () => {
    expect(chainOf('cheap', 'normal')).toEqual(['cheap']);
  });

  it('does not exist for a name that nobody configured', () => {
    expect(() => chainOf('gpt-9', 'normal')).toThrow(ModelNotFound);
    expect(() => chainOf('__proto__', 'normal')).toThrow(ModelNotFound);
  });
});

describe('the times of a call', () => {
  it('count from its receipt, and no wait is longer than the deadline', () => {
    const at = (controls: object) => classify(incomingCall({ receivedAt: 5_000, controls }), settings);
    expect(at({ priority: 'critical' })).toMatchObject({ turnBy: 6_000 });
    expect(at({ maxWaitMs: 300 })).toMatchObject({ turnBy: 5_300 });
    expect(at({ priority: 'low' })).toMatchObject({ turnBy: 14_000, answerBy: 14_000 });
    expect(at({ deadlineMs: 100 })).toMatchObject({ turnBy: 5_100, answerBy: 5_100 });
    expect(at({ maxWaitMs: 300 })).not.toHaveProperty('answerBy');
  });

  it('abort the call when its deadline passes, and never after the first content', async () => {
    const stage = new ClassifyStage(config, new SystemClock());
    const late = stage.handle(incomingCall({ controls: { deadlineMs: 30 } }), async call => {
      await new Promise<void>(resolve => call.signal.addEventListener('abort', resolve));
      throw call.signal.reason as Error;
    });
    await expect(late).rejects.toThrow(DeadlineExceeded);

    const calls: Call[] = [];
    await stage.handle(incomingCall({ controls: { deadlineMs: 30 } }), async call => {
      calls.push(call);
      return answer;
    });
    await sleep(60);
    expect(calls[0]?.signal.aborted).toBe(false);
  });

  it('hold on to the signal of a call no longer than its answer takes', async () => {
    const stage = new ClassifyStage(config, new SystemClock());
    const { signal } = new AbortController();
    const listeners = (): number => getEventListeners(signal, 'abort').length;
    const call = { signal, controls: { deadlineMs: 1_000 } };
    const counts: number[] = [];
    await stage.handle(incomingCall(call), async () => {
      counts.push(listeners());
      return answer;
    });
    counts.push(listeners());
    // Of a stream no more than its first content is there.
    await stage.handle(incomingCall({ ...call, streaming: true }), async () => answer);
    expect([...counts, listeners()]).toEqual([1, 0, 1]);
  });
});
