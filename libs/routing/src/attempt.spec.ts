import { Journal, wholePart, type AnswerPart, type Call, type ModelSettings, type Turn } from '@spillway/contracts';
import type { UpstreamAnswer } from '@spillway/providers';
import { ManualClock } from '../../../test/support/manual-clock';
import { callOf } from '../../../test/support/turns';
import { Attempt, type Lane } from './attempt';
import { Outrun } from './attempt-end';

const model = { name: 'm', metric_label: 'm', provider: { name: 'p' } } as ModelSettings;
const WHOLE = wholePart({ choices: [], usage: { prompt_tokens: 5, completion_tokens: 2 } });

describe('an attempt beside which another model may be asked', () => {
  const clock = new ManualClock();
  const health = { report: jest.fn() };
  const meter = { upstream: jest.fn() };
  const quality = { weigh: jest.fn(() => 0), empty: jest.fn(() => true) };
  const close = jest.fn();
  const onContent = jest.fn();
  const turn: Turn = { model, close };

  beforeEach(() => jest.clearAllMocks());

  const begin = (call: Call, foreseen: string | null): Attempt => {
    const lane: Lane = { foreseen, onContent };
    return new Attempt(call, turn, clock, { meter, health, quality }, lane);
  };
  const answerOf = (...parts: readonly AnswerPart[]): UpstreamAnswer => ({
    status: 200,
    headers: new Map(),
    parts: {
      async *[Symbol.asyncIterator]() {
        yield* parts;
      },
    },
  });
  const reported = async (): Promise<unknown> => {
    await new Promise(resolve => setImmediate(resolve));
    return (health.report.mock.calls[0] as readonly unknown[])[1];
  };

  it('ends the moment that it is outrun, as one that took at least so long, and is silent from then on', async () => {
    const call = callOf('critical', {});
    let give = (_answer: UpstreamAnswer): void => undefined;
    const attempt = begin(call, 'chat?5');
    const opened = attempt.open(() => new Promise(resolve => (give = resolve)));
    clock.time += 700;
    attempt.outrun();
    expect(close.mock.calls).toEqual([['ignored', null, undefined]]);
    expect(await reported()).toMatchObject({
      finding: { kind: 'outrun' },
      latency: null,
      foreseen: { size: 'chat?5', ms: 700 },
    });
    expect(meter.upstream).toHaveBeenCalledWith(expect.objectContaining({ status: 'outrun', seconds: 0.7 }));
    expect(call.journal.decisions).toMatchObject([{ kind: 'attempt', status: 'outrun', failure: null, ms: 700 }]);
    const { upstreamMs, usage, attempts }: Journal = call.journal;
    expect({ upstreamMs, usage, attempts }).toEqual({ upstreamMs: null, usage: null, attempts: 1 });

    give(answerOf(WHOLE));
    await expect(opened).rejects.toBeInstanceOf(Outrun);
    expect(onContent).not.toHaveBeenCalled();
    expect([close, health.report, meter.upstream].map(({ mock }) => mock.calls.length)).toEqual([1, 1, 1]);
  });

  it('tells first that its content is there, then ends', async () => {
    onContent.mockImplementation(() => expect(close).not.toHaveBeenCalled());
    await begin(callOf('critical'), 'chat?5').open(async () => answerOf(WHOLE));
    expect(onContent).toHaveBeenCalledTimes(1);
    expect(await reported()).toMatchObject({ latency: { size: 'chat1' }, foreseen: { size: 'chat?5' } });
    expect(close).toHaveBeenCalledWith('success', { input: 5, output: 2 }, undefined);
  });

  it('of a second model tells nothing of its time', async () => {
    await begin(callOf('critical'), null).open(async () => answerOf(WHOLE));
    expect(await reported()).toMatchObject({ finding: { kind: 'counted' }, latency: null, foreseen: null });
  });
});
