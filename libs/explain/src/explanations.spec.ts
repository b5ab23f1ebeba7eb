import type { IncomingCall, Outcome } from '@spillway/contracts';
import { incomingCall } from '../../../test/support/calls';
import { ManualClock } from '../../../test/support/manual-clock';
import { factsOf } from './explanation';
import { Explanations } from './explanations';

const PROMPT = 'the prompt that nobody may see';

describe('explanations', () => {
  const clock = new ManualClock();
  const make = (entries = 10, bytes = 1_000_000): Explanations => new Explanations({ entries, bytes }, clock);
  const call = (id: string): IncomingCall =>
    incomingCall({
      id,
      receivedAt: clock.now(),
      caller: { name: 'shop' },
      body: { model: 'assistant', messages: [{ role: 'user', content: PROMPT }] },
    });
  const end = (
    explanations: Explanations,
    one: IncomingCall,
    outcome: Outcome,
    failure: { status: number; code: string | null } = { status: 200, code: null },
  ): void => explanations.ended(one, factsOf(one, { outcome, ...failure }), 12.345);

  it('tell what was decided, in order, without what does not apply', () => {
    const explanations = make();
    const one = call('one');
    one.journal.note({ kind: 'cache', tier: 'exact', result: 'miss', why: null });
    one.journal.note({ kind: 'turn', model: 'good', waitMs: 1.23456, from: 'memory' });
    explanations.began(one);
    end(explanations, one, 'upstream-failed', { status: 502, code: 'upstream_error' });

    const told = explanations.find('one');
    expect(told).toMatchObject({ key: 'shop', outcome: 'upstream-failed', status: 502, code: 'upstream_error' });
    expect(told?.durationMs).toBe(12.3);
    expect(told?.decisions).toEqual([
      { kind: 'cache', tier: 'exact', result: 'miss' },
      { kind: 'turn', model: 'good', waitMs: 1.2, from: 'memory' },
    ]);
    expect(JSON.stringify(told)).not.toContain(PROMPT);
  });

  it('tell of a call that is still under way', () => {
    const explanations = make();
    const waiting = call('waiting');
    explanations.began(waiting);
    clock.time += 1_500;
    waiting.journal.note({ kind: 'queued', models: ['good'], ahead: 3, estimateMs: null, answerMs: 0, binds: 'tpm' });

    expect(explanations.find('waiting')).toMatchObject({
      outcome: 'under-way',
      status: null,
      durationMs: 1_500,
      decisions: [{ kind: 'queued', models: ['good'], ahead: 3, binds: 'tpm' }],
    });
    end(explanations, waiting, 'generated');
    expect(explanations.find('waiting')?.outcome).toBe('generated');
  });

  it('are not pushed out by answers of a cache', () => {
    const explanations = make(2);
    end(explanations, call('failed'), 'upstream-failed');
    for (let index = 0; index < 50; index++) end(explanations, call(`hit-${index}`), 'cache-exact');

    expect(explanations.find('failed')).not.toBeNull();
    expect(explanations.find('hit-48')).not.toBeNull();
    expect(explanations.find('hit-47')).toBeNull();
  });

  it('are as few as their bytes allow', () => {
    const explanations = make(100, 20_000);
    for (let index = 0; index < 100; index++) end(explanations, call(`call-${index}`), 'generated');
    const known = Array.from({ length: 100 }, (_, index) => explanations.find(`call-${index}`)).filter(Boolean);

    expect(known.length).toBeGreaterThan(5);
    expect(known.length).toBeLessThan(20);
  });

  it('are of the later call where an id was used twice', () => {
    const explanations = make();
    end(explanations, call('twice'), 'generated');
    clock.time += 1_000;
    end(explanations, call('twice'), 'cache-exact');

    expect(explanations.find('twice')?.outcome).toBe('cache-exact');
  });
});
