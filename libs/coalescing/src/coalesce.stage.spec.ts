import {
  ClientGone,
  DeadlineExceeded,
  QueueFull,
  QueueTimeout,
  UpstreamError,
  type KeyedCall,
  type Priority,
} from '@spillway/contracts';
import { Below, settled, shareableCall } from '../../../test/support/coalescing';

const gone = (): ClientGone => new ClientGone('gone');

describe('equal calls under way at the same time', () => {
  it('share one call of the model, whatever shape they ask for', async () => {
    const below = new Below();
    const callers = [true, false, true].map(streaming => below.ask({ streaming }));
    await settled();
    expect(below.runs).toHaveLength(1);
    below.only.callModel('m');
    below.only.begin();
    below.only.say('one ');
    below.only.say('two');
    below.only.finish({ input: 3, output: 2 });
    await settled();

    expect(callers.map(caller => caller.heard)).toEqual(['one two', 'one two', 'one two']);
    expect(callers.map(caller => caller.answer?.outcome)).toEqual(['generated', 'coalesced', 'coalesced']);
    const [leader, ...others] = callers.map(({ call }) => call.journal);
    expect(leader).toMatchObject({
      cache: 'MISS',
      attempts: 1,
      model: 'm',
      usage: { input: 3, output: 2 },
      saved: null,
    });
    for (const journal of others) {
      expect(journal).toMatchObject({ cache: 'COALESCED', attempts: 0, model: 'm', usage: null });
      expect(journal.saved).toEqual({ input: 3, output: 2 });
    }
    expect(below.counted).toEqual({ hit: 2, miss: 1 });
  });

  it('get it from its start, however late they come', async () => {
    const below = new Below();
    const early = below.ask();
    await settled();
    below.only.begin();
    below.only.say('one ');
    await settled();
    const late = below.ask();
    await settled();
    expect([early.heard, late.heard]).toEqual(['one ', 'one ']);
    below.only.say('two');
    below.only.finish();
    await settled();
    expect([early.heard, late.heard]).toEqual(['one two', 'one two']);
    expect(below.runs).toHaveLength(1);
  });

  it('share even if the last looked into the cache just before the answer was kept, but no later call does', async () => {
    const below = new Below();
    below.ask();
    const overtaken = below.call();
    await settled();
    below.only.begin();
    below.only.say('one');
    below.only.finish();
    await settled();
    const joined = below.ask(overtaken);
    below.clock.time += 1;
    below.ask();
    await settled();
    expect(joined.heard).toBe('one');
    expect(below.runs).toHaveLength(2);
  });

  it('go their own way once the answer is longer than may be kept', async () => {
    const below = new Below({ max_item_bytes: 40 });
    const early = below.ask();
    await settled();
    below.only.begin();
    below.only.say('x'.repeat(50));
    await settled();
    below.ask();
    await settled();
    expect(below.runs).toHaveLength(2);
    below.runs[0]?.say('y');
    below.runs[0]?.finish();
    await settled();
    expect(early.heard).toBe(`${'x'.repeat(50)}y`);
  });

  it('tell that a fallback model has answered', async () => {
    const below = new Below();
    const [first, second] = [below.ask(), below.ask()];
    await settled();
    below.only.call.journal.degraded = 'fallback-model';
    below.only.begin('fallback-model');
    below.only.finish();
    await settled();
    expect([first.answer?.outcome, second.answer?.outcome]).toEqual(['fallback-model', 'coalesced']);
    expect([first, second].map(({ call }) => call.journal.degraded)).toEqual(['fallback-model', 'fallback-model']);
  });
});

describe('who never shares', () => {
  const different: [string, Partial<KeyedCall>][] = [
    ['calls without a key', { cacheKey: null }],
    ['calls with another key', { cacheKey: 'other' }],
    ['no-cache', { controls: { ...shareableCall().controls, cacheRead: false } }],
    ['no-store', { controls: { ...shareableCall().controls, cacheWrite: false } }],
    ['the level off', { controls: { ...shareableCall().controls, cacheLevel: 'off' } }],
    ['a ttl of 0', { controls: { ...shareableCall().controls, cacheTtlS: 0 } }],
    ['another chain', { models: [{ name: 'cheaper' } as KeyedCall['models'][number]] }],
    [
      'a route without the exact cache',
      { route: { ...shareableCall().route, cache: { ...shareableCall().route.cache, exact: false } } },
    ],
  ];

  it.each(different)('%s', async (_, changes) => {
    const below = new Below();
    below.ask();
    below.ask(changes);
    await settled();
    expect(below.runs).toHaveLength(2);
  });

  it('anybody where it is switched off', async () => {
    const below = new Below({ coalesce: false });
    below.ask();
    below.ask();
    await settled();
    expect(below.runs).toHaveLength(2);
  });
});

describe('a caller that leaves', () => {
  it('while it leads leaves the work to the others', async () => {
    const below = new Below();
    const [leader, follower] = [below.ask(), below.ask()];
    await settled();
    leader.leave(gone());
    await settled();
    expect(leader.error).toBeInstanceOf(ClientGone);
    expect(below.only.isAborted).toBe(false);
    below.only.begin();
    below.only.say('one');
    below.only.finish();
    await settled();
    expect([follower.heard, below.runs.length]).toEqual(['one', 1]);
  });

  it('while it follows touches nobody', async () => {
    const below = new Below();
    const [leader, follower, streaming] = [below.ask(), below.ask({ streaming: false }), below.ask()];
    await settled();
    below.only.begin();
    below.only.say('one');
    await settled();
    follower.leave(gone());
    streaming.leave(gone());
    below.only.finish();
    await settled();
    expect([follower.error, streaming.error]).toEqual([expect.any(ClientGone), expect.any(ClientGone)]);
    expect(leader.heard).toBe('one');
    expect(below.only.isAborted).toBe(false);
  });

  it.each(['waiting', 'reading'])('as the last one ends the work, %s', async when => {
    const below = new Below();
    const callers = [below.ask(), below.ask()];
    await settled();
    if (when === 'reading') below.only.begin();
    await settled();
    callers[0]?.leave(gone());
    await settled();
    expect(below.only.isAborted).toBe(false);
    callers[1]?.leave(gone());
    await settled();
    expect(below.only.isAborted).toBe(true);
    below.ask();
    await settled();
    expect(below.runs).toHaveLength(2);
  });

  it('alone hears how its own work ended', async () => {
    const below = new Below();
    const only = below.ask();
    await settled();
    only.leave(new DeadlineExceeded('late'));
    below.only.fail(new QueueTimeout('by the queue'));
    await settled();
    expect(only.error).toMatchObject({ message: 'by the queue' });
  });

  it('that stops reading cancels the source when nobody else reads', async () => {
    const below = new Below();
    const only = below.ask({ reads: false });
    await settled();
    below.only.begin();
    await settled();
    await only.answer?.parts[Symbol.asyncIterator]().return?.();
    expect(below.only.isLeft).toBe(true);
  });
});

describe('a deadline', () => {
  it('of a follower that passes in the queue expires there, and touches nobody else', async () => {
    const below = new Below();
    const [leader, follower] = [below.ask(), below.ask()];
    await settled();
    follower.leave(new DeadlineExceeded('late'));
    await settled();
    expect(follower.error).toBeInstanceOf(QueueTimeout);
    expect([leader.error, below.only.isAborted]).toEqual([null, false]);
  });

  it('of a leader whose model is at work ends with what it was, and the work goes on', async () => {
    const below = new Below();
    const [leader] = [below.ask(), below.ask()];
    await settled();
    below.only.callModel('m');
    leader.leave(new DeadlineExceeded('late'));
    await settled();
    expect(leader.error).toBeInstanceOf(DeadlineExceeded);
    expect(leader.call.journal.attempts).toBe(1);
    expect(below.only.isAborted).toBe(false);
  });

  it('for a turn is that of each caller', async () => {
    const below = new Below();
    below.ask();
    const patience = below.ask({ turnBy: below.clock.time + 20 });
    await new Promise(resolve => setTimeout(resolve, 40));
    await settled();
    expect(patience.error).toBeInstanceOf(QueueTimeout);
    expect(below.only.isAborted).toBe(false);
  });

  it('for a turn does not count once a model was called', async () => {
    const below = new Below();
    below.ask();
    const patience = below.ask({ turnBy: below.clock.time + 20 });
    await settled();
    below.only.callModel('m');
    await new Promise(resolve => setTimeout(resolve, 40));
    expect(patience.error).toBeNull();
  });
});

describe('a failure', () => {
  it.each([new QueueFull('full'), new QueueTimeout('late')])(
    'of the leader alone lets the next one lead',
    async failure => {
      const below = new Below();
      const [first, second, third] = [below.ask(), below.ask(), below.ask()];
      await settled();
      below.only.fail(failure);
      await settled();
      expect(first.error).toBe(failure);
      expect(below.runs.map(({ call }) => call.id)).toEqual([first, second].map(({ call }) => call.id));
      below.runs[1]?.begin();
      below.runs[1]?.say('one');
      below.runs[1]?.finish();
      await settled();
      expect([second.answer?.outcome, third.answer?.outcome]).toEqual(['generated', 'coalesced']);
      expect(third.heard).toBe('one');
    },
  );

  it('of the model is shared, and forgotten', async () => {
    const below = new Below();
    const callers = [below.ask(), below.ask(), below.ask()];
    await settled();
    const failure = new UpstreamError('down');
    below.only.fail(failure);
    await settled();
    expect(callers.map(({ error }) => error)).toEqual([failure, failure, failure]);
    below.ask();
    await settled();
    expect(below.runs).toHaveLength(2);
  });

  it('after the first content is shared too', async () => {
    const below = new Below();
    const callers = [below.ask(), below.ask({ streaming: false }), below.ask()];
    await settled();
    below.only.begin();
    below.only.say('one');
    const failure = new UpstreamError('broken');
    below.only.breakOff(failure);
    await settled();
    expect(callers.map(({ error }) => error)).toEqual([failure, failure, failure]);
    expect(callers.map(({ heard }) => heard)).toEqual(['one', '', 'one']);
  });

  it('becomes the fallback text of each class by itself', async () => {
    const below = new Below({}, { critical: 'sorry, critical', normal: null, low: 'sorry, low' });
    const classes: Priority[] = ['critical', 'normal', 'low', 'low'];
    const callers = classes.map(priority => below.ask({ priority }));
    await settled();
    below.only.fail(new UpstreamError('down'));
    await settled();
    expect(callers.map(({ answer, error, heard }) => answer?.outcome ?? `${(error as Error).message}${heard}`)).toEqual(
      ['fallback-response', 'down', 'fallback-response', 'fallback-response'],
    );
    expect(callers.map(({ heard }) => heard)).toEqual(['sorry, critical', '', 'sorry, low', 'sorry, low']);
    expect(below.runs).toHaveLength(1);
    expect(callers.map(({ call }) => call.journal.cache)).not.toContain('COALESCED');
  });
});

describe('a call of a higher class', () => {
  it('that joins a waiting lower one waits in its own class, for both', async () => {
    const below = new Below();
    const low = below.ask({ priority: 'low' });
    await settled();
    const critical = below.ask({ priority: 'critical' });
    await settled();
    expect(below.runs.map(({ call, isAborted }) => [call.priority, isAborted])).toEqual([
      ['low', true],
      ['critical', false],
    ]);
    below.runs[1]?.begin();
    below.runs[1]?.say('one');
    below.runs[1]?.finish();
    await settled();
    expect([critical, low].map(({ answer }) => answer?.outcome)).toEqual(['generated', 'coalesced']);
    expect(low.heard).toBe('one');
  });

  it('gives the lead back when its queue is full', async () => {
    const below = new Below();
    const low = below.ask({ priority: 'low' });
    const critical = below.ask({ priority: 'critical' });
    await settled();
    below.runs[1]?.fail(new QueueFull('full'));
    await settled();
    expect(critical.error).toBeInstanceOf(QueueFull);
    expect(low.error).toBeNull();
    expect(below.runs.map(({ call }) => call.priority)).toEqual(['low', 'critical', 'low']);
  });

  it('only follows where the model is at work already, or the leader is of its class', async () => {
    const below = new Below();
    below.ask({ priority: 'low' });
    await settled();
    below.only.callModel('m');
    below.ask({ priority: 'critical' });
    await settled();
    expect(below.runs).toHaveLength(1);
    const other = new Below();
    other.ask({ priority: 'normal' });
    other.ask({ priority: 'normal' });
    other.ask({ priority: 'low' });
    await settled();
    expect(other.runs).toHaveLength(1);
  });
});
