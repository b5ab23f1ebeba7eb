import {
  NotAllowed,
  QueueFull,
  chunkPart,
  partsOf,
  wholePart,
  type Answer,
  type Call,
  type Outcome,
} from '@spillway/contracts';
import { incomingCall } from '../../../test/support/calls';
import { AdmitCallerStage } from './admit-caller.stage';
import type { CallerBudgets } from './caller-budgets';
import type { CallerLimits } from './caller-limits';

const route = { name: 'assistant' } as Call['route'];

describe('AdmitCallerStage', () => {
  const permit = { close: jest.fn(), withdraw: jest.fn() };
  const admit = jest.fn<ReturnType<CallerLimits['admit']>, [Call, readonly string[]]>();
  const of = jest.fn<readonly string[], []>();
  const stage = new AdmitCallerStage({ of } as unknown as CallerBudgets, { admit } as unknown as CallerLimits);
  let call: Call;

  beforeEach(() => {
    permit.close.mockReset();
    permit.withdraw.mockReset();
    admit.mockReset().mockResolvedValue(permit);
    of.mockReset().mockReturnValue(['key:shop']);
    call = { ...incomingCall(), priority: 'normal', route, models: [], turnBy: Date.now() };
  });

  const answers =
    (outcome: Outcome, more: Partial<Call['journal']> = {}) =>
    async (): Promise<Answer> => {
      Object.assign(call.journal, more);
      return { outcome, parts: partsOf(chunkPart({ choices: [] }), chunkPart({ choices: [] })) };
    };
  const fails =
    (error: Error, attempts: number, usage = call.journal.usage) =>
    (): Promise<Answer> => {
      Object.assign(call.journal, { attempts, usage });
      return Promise.reject(error);
    };
  const read = async ({ parts }: Answer): Promise<void> => {
    for await (const part of parts) expect(part.kind).toBe('chunk');
  };

  it('keeps a caller to its routes before anything is counted', async () => {
    const caller = { ...call.caller, routes: ['other'] };
    await expect(stage.handle({ ...call, caller }, answers('generated'))).rejects.toBeInstanceOf(NotAllowed);
    expect(admit).not.toHaveBeenCalled();
  });

  it('leaves the answer of a caller without limits as it is', async () => {
    of.mockReturnValue([]);
    const answer = await answers('generated')();
    expect(await stage.handle(call, async () => answer)).toBe(answer);
    expect(admit).not.toHaveBeenCalled();
  });

  it.each<[string, Outcome, object, number | null]>([
    ['the tokens that a model used', 'generated', { attempts: 1, usage: { input: 5, output: 2 } }, 7],
    ['unknown tokens', 'fallback-model', { attempts: 2, usage: null }, null],
    ['none for a cached answer', 'cache-exact', { usage: null }, 0],
    ['none for one that others pay', 'coalesced', { usage: null }, 0],
    ['what a model used in vain', 'fallback-response', { attempts: 1, usage: { input: 0, output: 0 } }, 0],
  ])('counts %s when the answer has been read', async (_, outcome, journal, tokens) => {
    const answer = await stage.handle(call, answers(outcome, journal));
    expect(permit.close).not.toHaveBeenCalled();
    await read(answer);
    expect(permit.close).toHaveBeenCalledWith(tokens);
    expect(permit.withdraw).not.toHaveBeenCalled();
  });

  it('counts at once what a whole answer used, and hands it on as it is', async () => {
    const parts = partsOf(wholePart({ choices: [] }));
    const answer = await stage.handle(call, () => {
      Object.assign(call.journal, { attempts: 1, usage: { input: 5, output: 2 } });
      return Promise.resolve({ outcome: 'generated', parts });
    });
    expect(answer.parts).toBe(parts);
    expect(permit.close).toHaveBeenCalledWith(7);
  });

  it('counts a call whose model failed, and gives back one that reached none', async () => {
    const failure = new QueueFull('full');
    await expect(stage.handle(call, fails(failure, 1, { input: 0, output: 0 }))).rejects.toBe(failure);
    expect(permit.close).toHaveBeenCalledWith(0);
    await expect(stage.handle(call, fails(failure, 0))).rejects.toBe(failure);
    expect(permit.withdraw).toHaveBeenCalledTimes(1);
    await read(await stage.handle(call, answers('fallback-response')));
    expect(permit.withdraw).toHaveBeenCalledTimes(2);
    expect(permit.close).toHaveBeenCalledTimes(1);
  });
});
