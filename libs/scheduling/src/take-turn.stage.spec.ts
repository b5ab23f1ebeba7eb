import {
  Turns,
  type Answer,
  type Call,
  type ModelSettings,
  type PlannedCall,
  type Turn,
  type TurnEnd,
} from '@spillway/contracts';
import { TakeTurnStage } from './take-turn.stage';

class OneTurn extends Turns {
  readonly ends: TurnEnd[] = [];

  async take(_call: Call, [model]: readonly ModelSettings[]): Promise<Turn> {
    if (model === undefined) throw new Error('no model');
    return { model, close: end => void this.ends.push(end) };
  }

  async takeSpare(): Promise<null> {
    return null;
  }
}

const model = { name: 'm' } as ModelSettings;
const call = { id: 'request-1', planned: [model] } as unknown as PlannedCall;

describe('TakeTurnStage', () => {
  it('passes the call on with its turn, and leaves the turn to who got it', async () => {
    const turns = new OneTurn();
    const answer = {} as Answer;
    const passedOn = jest.fn(async () => answer);
    await expect(new TakeTurnStage(turns).handle(call, passedOn)).resolves.toBe(answer);
    expect(passedOn).toHaveBeenCalledWith({ ...call, turn: expect.objectContaining({ model }) });
    expect(turns.ends).toEqual([]);
  });

  it('closes the turn when the call could not be passed on', async () => {
    const turns = new OneTurn();
    const failure = new Error('not passed on');
    const handled = new TakeTurnStage(turns).handle(call, () => {
      throw failure;
    });
    await expect(handled).rejects.toBe(failure);
    expect(turns.ends).toEqual(['ignored']);
  });
});
