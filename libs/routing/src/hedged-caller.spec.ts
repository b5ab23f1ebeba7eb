import type { AnswerParts, Call, ModelSettings, Turn } from '@spillway/contracts';
import { callOf, models } from '../../../test/support/turns';
import type { Lane } from './attempt';
import type { Choice } from './hedge';
import type { HedgePlan } from './hedge-planner';
import { HedgedCaller } from './hedged-caller';
import type { Runner } from './model-caller';

const chain = models('first', 'second', 'third');
const [first, second] = chain;
if (first === undefined || second === undefined) throw new Error('no models');

/** A call of a model that a test ends. */
interface Started {
  readonly lane: Lane;
  answer(): void;
  readonly outrun: jest.Mock<void, []>;
}

describe('HedgedCaller', () => {
  const started = new Map<string, Started>();
  const close = jest.fn();
  const planner = {
    plan: jest.fn<HedgePlan | null, []>(),
    choose: jest.fn<Choice, [Call, readonly ModelSettings[]]>(),
    giveBack: jest.fn<void, []>(),
  };
  const turns = { take: jest.fn(), takeSpare: jest.fn<Promise<Turn | null>, []>() };
  const caller = {
    call: jest.fn<Promise<AnswerParts>, []>(),
    start: (_call: Call, { model }: Turn, lane: Lane): Runner => {
      let answer = (): void => undefined;
      const parts = new Promise<AnswerParts>(resolve => {
        answer = () => {
          lane.onContent();
          resolve({} as AnswerParts);
        };
      });
      const one: Started = { lane, answer, outrun: jest.fn<void, []>() };
      started.set(model.name, one);
      return { parts, outrun: one.outrun };
    },
  };
  const hedged = new HedgedCaller(caller, planner, turns);
  const turn: Turn = { model: first, close: jest.fn() };
  const runnerOf = (name: string): Started => {
    const one = started.get(name);
    if (one === undefined) throw new Error(`${name} was not called`);
    return one;
  };
  const moment = (): Promise<void> => new Promise(resolve => setTimeout(resolve, 20));

  beforeEach(() => {
    jest.resetAllMocks();
    started.clear();
    planner.plan.mockReturnValue({ size: 'chat?5', afterMs: 1 });
    planner.choose.mockReturnValue({ kind: 'second', model: second });
    turns.takeSpare.mockResolvedValue({ model: second, close });
  });

  it('asks the second model of the others, and gives up who is later at the moment of the first content', async () => {
    const call = callOf('critical');
    const ran = hedged.call(call, turn, chain);
    await moment();
    expect(planner.choose).toHaveBeenCalledWith(call, chain.slice(1));
    runnerOf('second').answer();
    expect(runnerOf('first').outrun).toHaveBeenCalledTimes(1);
    expect(await ran).toMatchObject({ kind: 'answered', model: second });
    expect(call.journal.hedge).toBe('won');
    expect(runnerOf('second').outrun).not.toHaveBeenCalled();
  });

  it('measures the first model only: of the second, quick answers alone see their end', async () => {
    const ran = hedged.call(callOf('critical'), turn, chain);
    await moment();
    expect([runnerOf('first').lane.foreseen, runnerOf('second').lane.foreseen]).toEqual(['chat?5', null]);
    runnerOf('first').answer();
    await ran;
  });

  it('does without a second model, and gives all of it back, when the first answers while a permit is asked for', async () => {
    let give = (_turn: Turn | null): void => undefined;
    turns.takeSpare.mockReturnValue(new Promise(resolve => (give = resolve)));
    const call = callOf('critical');
    const ran = hedged.call(call, turn, chain);
    await moment();
    runnerOf('first').answer();
    give({ model: second, close });
    expect(await ran).toMatchObject({ kind: 'answered', model: first });
    expect([...started.keys()]).toEqual(['first']);
    expect(close.mock.calls).toEqual([['ignored', { input: 0, output: 0 }]]);
    expect(planner.giveBack).toHaveBeenCalledTimes(1);
    expect([call.journal.hedge, call.journal.decisions]).toEqual([null, []]);
  });

  it('goes on with the first, and takes nothing of the share, where the second has no permit to spare', async () => {
    turns.takeSpare.mockResolvedValue(null);
    const call = callOf('critical');
    const ran = hedged.call(call, turn, chain);
    await moment();
    runnerOf('first').answer();
    expect(await ran).toMatchObject({ kind: 'answered', model: first });
    expect(planner.giveBack).toHaveBeenCalledTimes(1);
    expect(call.journal.hedge).toBe('no-permit');
  });

  it('only measures while nobody knows what is usual', async () => {
    planner.plan.mockReturnValue({ size: 'chat?5', afterMs: null });
    const ran = hedged.call(callOf('critical'), turn, chain);
    await moment();
    runnerOf('first').answer();
    expect(await ran).toMatchObject({ kind: 'answered', model: first });
    expect(planner.choose).not.toHaveBeenCalled();
  });
});
