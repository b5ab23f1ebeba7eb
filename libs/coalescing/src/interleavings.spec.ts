import { ClientGone, PRIORITIES, QueueFull, UpstreamError, type Priority } from '@spillway/contracts';
import fc from 'fast-check';
import { Below, settled, type Caller, type Run } from '../../../test/support/coalescing';

type Step =
  | { readonly kind: 'arrive'; readonly priority: Priority; readonly streaming: boolean }
  | { readonly kind: 'leave'; readonly who: number }
  | { readonly kind: 'call-model' | 'begin' | 'say' | 'finish' | 'refuse' | 'break' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('arrive' as const),
      priority: fc.constantFrom(...PRIORITIES),
      streaming: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('leave' as const), who: fc.nat(20) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        ...(['call-model', 'call-model', 'begin', 'begin', 'say', 'say', 'finish', 'refuse', 'break'] as const),
      ),
    }),
  },
);

/** The stage among callers and a model that do as they please. */
class Theatre {
  readonly below = new Below({}, { critical: null, normal: 'normal fallback', low: null });
  readonly callers: Caller[] = [];
  readonly left = new Set<Caller>();
  /** More than one at a time is never right. */
  mostAtOnce = 0;

  async play(step: Step): Promise<void> {
    // Every call of a new moment: a complete answer is none that is under way.
    this.below.clock.time += 1;
    this.perform(step);
    await settled();
    this.mostAtOnce = Math.max(this.mostAtOnce, this.live.length);
  }

  async finish(): Promise<void> {
    for (let round = 0; round < 50 && this.live.length > 0; round++) {
      for (const kind of ['call-model', 'begin', 'finish'] as const) await this.play({ kind });
    }
  }

  /** Work that has neither ended nor been given up. */
  private get live(): Run[] {
    return this.below.runs.filter(({ isAborted, isLeft, isOver }) => !isAborted && !isLeft && !isOver);
  }

  private perform(step: Step): void {
    if (step.kind === 'arrive') {
      this.callers.push(this.below.ask({ priority: step.priority, streaming: step.streaming }));
      return;
    }
    if (step.kind === 'leave') return this.leave(this.callers[step.who]);
    const run = this.live[0];
    if (run !== undefined) this.act(run, step.kind);
  }

  private leave(caller: Caller | undefined): void {
    if (caller === undefined || caller.ends > 0) return;
    this.left.add(caller);
    caller.leave(new ClientGone('gone'));
  }

  private act(run: Run, kind: Exclude<Step['kind'], 'arrive' | 'leave'>): void {
    const isWaiting = !run.hasBegun && run.call.journal.attempts === 0;
    if (kind === 'call-model' && isWaiting) run.callModel('m');
    else if (kind === 'refuse' && !run.hasBegun)
      run.fail(isWaiting ? new QueueFull('full') : new UpstreamError('down'));
    else if (kind === 'begin' && !run.hasBegun && !isWaiting) run.begin();
    else if (kind === 'say' && run.hasBegun) run.say(`${this.below.runs.indexOf(run)};`);
    else if (kind === 'finish' && run.hasBegun) run.finish();
    else if (kind === 'break' && run.hasBegun) run.breakOff(new UpstreamError('broken'));
  }
}

describe('whatever happens in whatever order', () => {
  it('each caller ends once, has all of an answer or an error, and never are two calls under way', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async steps => {
        const theatre = new Theatre();
        for (const next of steps) await theatre.play(next);
        await theatre.finish();
        const { callers, left, below } = theatre;
        expect(callers.map(({ ends }) => ends)).toEqual(callers.map(() => 1));
        expect(theatre.mostAtOnce).toBeLessThanOrEqual(1);
        const unserved = callers.filter(caller => !left.has(caller) && caller.error !== null);
        const stayed = callers.filter(caller => !left.has(caller) && caller.error === null);
        expect(stayed.map(({ heard }) => below.texts.includes(heard))).toEqual(stayed.map(() => true));
        expect([...left].every(({ error }) => error instanceof ClientGone)).toBe(true);
        expect(unserved.some(({ error }) => error instanceof ClientGone)).toBe(false);
        const served = callers.filter(({ answer, error }) => error === null && answer?.outcome === 'coalesced');
        expect(served.every(({ call }) => call.journal.attempts === 0)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});
