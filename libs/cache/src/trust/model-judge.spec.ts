import { Journal, type Errand, type Outcome } from '@spillway/contracts';
import { ModelJudge } from './model-judge';

const never = new AbortController().signal;

async function ask(
  content: unknown,
  outcome: Outcome = 'generated',
): Promise<{ verdict: boolean | null; errand: Errand }> {
  const errands: Errand[] = [];
  const run = async (errand: Errand) => {
    errands.push(errand);
    return { body: { choices: [{ message: { content: content as string } }] }, outcome, journal: new Journal() };
  };
  const verdict = await new ModelJudge({ run }).sameAnswer('cheap', ['is it red?', 'is it blue?'], never);
  const [errand] = errands;
  if (!errand) throw new Error('asked');
  return { verdict, errand };
}

describe('a model as the judge', () => {
  it('is asked as a LOW call that is kept nowhere, with the questions as data', async () => {
    const { errand } = await ask('{"same": true}');
    expect(errand).toMatchObject({
      priority: 'low',
      caller: { max_priority: 'low' },
      headers: { 'cache-control': 'no-store' },
    });
    const { messages } = errand.body as { messages: { role: string; content: string }[] };
    expect(JSON.parse(messages[1]?.content ?? '')).toEqual({ first: 'is it red?', second: 'is it blue?' });
  });

  it.each([
    ['{"same": true}', true],
    ['```json\n{ "same":false }\n```', false],
    ['Yes, they are the same.', null],
    ['', null],
    [null, null],
  ])('says %j, which means %s', async (content, verdict) => {
    expect((await ask(content)).verdict).toBe(verdict);
  });

  it('is not taken at the word of a fallback text', async () => {
    expect((await ask('{"same": true}', 'fallback-response')).verdict).toBeNull();
  });
});
