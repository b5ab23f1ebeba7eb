import { until, type ApiClient, type Reply } from '../support/api-client';
import { embeddings } from '../support/embeddings';
import { refusal } from '../support/model-answers';
import { textOf } from '../support/seeder';
import { ask, startWorld, type World } from '../support/world';

interface Status {
  readonly state: string;
  readonly [figure: string]: unknown;
}

const QUESTIONS = ['boots', 'socks', 'gloves', 'hats', 'scarves'].map(thing => `Which ${thing} are waterproof?`);
const REWORDED = QUESTIONS.map(question => question.replace('are waterproof', 'can withstand water'));

/** The same for a question in either wording. */
const vectorOf = (text: string): number[] => {
  const place = Math.max(QUESTIONS.indexOf(text), REWORDED.indexOf(text));
  return [...QUESTIONS.map((_, index) => (index === place ? 1 : 0)), place < 0 ? 1 : 0];
};
const well = embeddings(vectorOf);

describe('D21 seeds that meet a limited embedder', () => {
  let world: World;
  let client: ApiClient;

  beforeAll(async () => {
    world = await startWorld({
      route: { cache: { exact: true, semantic: true, guard: 'off', threshold: 0.9 } },
      configuration: { embedding: { provider: 'fallback', model: 'e' } },
    });
    ({ client } = world);
    world.primary.script([refusal(500)]);
  });
  afterAll(() => world.stop());

  const run = async (lines: readonly object[]): Promise<Status> => {
    const response = await fetch(`${client.url}/admin/seed?route=m-primary&key=a`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
      body: textOf(lines),
    });
    const { id } = (await response.json()) as { id: string };
    const look = async (): Promise<Status> => JSON.parse((await client.get(`/admin/seed/${id}`)).raw) as Status;
    await until(async () => (await look()).state === 'succeeded', 20_000);
    return look();
  };
  const found = async (questions: readonly string[]): Promise<unknown[]> => {
    const replies: Reply[] = [];
    for (const question of questions) replies.push(await client.send({ body: ask(question) }));
    return replies.map(({ said, headers }) => [said, headers.get('x-spillway-cache')]);
  };

  it('are whole or named: each is found in its own and in other words, and a second run changes nothing', async () => {
    const troubles = [{ ...refusal(429, 'rate_limit_exceeded'), headers: { 'retry-after': '1' } }, null, refusal(500)];
    world.fallback.script(request => {
      const trouble = request.body.includes('waterproof') ? troubles.shift() : null;
      return trouble ?? well(request);
    });
    const lines = [
      ...QUESTIONS.map((question, index) => ({ question, answer: `a${index}` })),
      { question: '', answer: 'x' },
      { question: QUESTIONS[1], answer: 'newer' },
      { question: 'And which coats?', answer: '' },
    ];
    expect(await run(lines)).toMatchObject({
      total: 8,
      done: 8,
      stored: 5,
      hits: 1,
      generated: 0,
      failed: 2,
      failures: [
        { line: 6, reason: 'question must be a text' },
        { line: 8, reason: 'answer must be a text that says something' },
      ],
    });
    expect(troubles).toEqual([]);
    expect(await found(QUESTIONS)).toEqual(QUESTIONS.map((_, index) => [`a${index}`, 'HIT']));
    expect(await found(REWORDED)).toEqual(REWORDED.map((_, index) => [`a${index}`, 'SEMANTIC_HIT']));
    expect(await run(lines)).toMatchObject({ stored: 0, hits: 6, failed: 2 });
    expect(world.primary.requests).toHaveLength(0);
  });
});
