import type { AnswerParts, ModelSettings } from '@spillway/contracts';
import { UpstreamFailure } from '@spillway/providers';
import { Outrun } from './attempt-end';
import { firstAnswer, outlasts, ranBy, type Ran } from './race';

const [one, other] = [{ name: 'one' } as ModelSettings, { name: 'other' } as ModelSettings];
const failure = new UpstreamFailure('server', 'It failed.');
const later = async (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms));

const answers = async (model: ModelSettings, ms: number): Promise<Ran> => {
  await later(ms);
  return { kind: 'answered', model, parts: {} as AnswerParts };
};
const fails = async (model: ModelSettings, ms: number, error: Error = failure): Promise<Ran> => {
  const parts = later(ms).then(() => {
    throw error;
  });
  return ranBy(model, parts);
};
const names = (ran: Ran): readonly string[] =>
  ran.kind === 'answered' ? [ran.model.name] : ran.failures.map(({ model }) => model.name);

describe('the answer of two models', () => {
  it('is that of whoever comes first', async () => {
    expect(names(await firstAnswer(answers(one, 5), answers(other, 60)))).toEqual(['one']);
    expect(names(await firstAnswer(answers(one, 60), answers(other, 5)))).toEqual(['other']);
  });

  it('is waited for where the first has failed', async () => {
    expect(await firstAnswer(fails(one, 5), answers(other, 20))).toMatchObject({ kind: 'answered', model: other });
    expect(await firstAnswer(answers(one, 20), fails(other, 5))).toMatchObject({ kind: 'answered', model: one });
  });

  it('is the failures of both where both fail, in their order', async () => {
    const ran = await firstAnswer(fails(one, 20), fails(other, 5));
    expect(ran.kind).toBe('failed');
    expect(names(ran)).toEqual(['other', 'one']);
  });

  it('is never that of one that was outrun, also where that is heard of before the answer', async () => {
    const outrun = fails(one, 1, new Outrun());
    expect(await firstAnswer(outrun, answers(other, 20))).toMatchObject({ kind: 'answered', model: other });
    const refused = await firstAnswer(fails(one, 5), fails(other, 10, new Outrun()));
    expect(names(refused)).toEqual(['one']);
  });

  it('is nobody’s once the caller has left', async () => {
    const left = new Error('left');
    await expect(firstAnswer(fails(one, 5, left), fails(other, 5, left))).rejects.toBe(left);
  });
});

describe('outlasting', () => {
  it('tells whether work takes longer, as soon as that is known', async () => {
    expect(await outlasts(later(1), 5_000)).toBe(false);
    expect(await outlasts(later(200), 5)).toBe(true);
    await expect(outlasts(Promise.reject(new Error('failed')), 5_000)).rejects.toThrow('failed');
  });
});
