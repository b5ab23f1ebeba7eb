import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient } from '../support/api-client';
import { completion } from '../support/model-answers';
import { ask, startWorld, type World } from '../support/world';

describe('the same question in other function words', () => {
  let world: World;
  let client: ApiClient;

  beforeAll(async () => {
    world = await startWorld({ route: { cache: { exact: true, semantic: true } } });
    ({ client } = world);
  });
  afterAll(() => world.stop());

  /** How the second of two questions was answered: status and tier. */
  async function askedAfter(first: string, second: string, headers: Record<string, string> = {}): Promise<string[]> {
    world.primary.script(() => completion('an answer'));
    await client.send({ body: ask(first) });
    // An answer is stored after its reader has it.
    await sleep(20);
    const reply = await client.send({ body: ask(second), headers });
    return [reply.headers.get('x-spillway-cache') ?? '', reply.headers.get('x-spillway-cache-tier') ?? ''];
  }

  it.each([
    ['What is the capital of France?', 'what is the capital of france'],
    ['What is the capital of Spain?', '  What is the capital of Spain ?? '],
    ['How do I reset my password?', 'How can I reset my password?'],
    ['How to turn on dark mode?', 'How do I turn on dark mode?'],
    ['List three uses of baking soda.', 'Please list three uses of baking soda.'],
  ])('D13 %s answers %s', async (first, second) => {
    expect(await askedAfter(first, second)).toEqual(['HIT', 'canonical']);
  });

  it.each([
    ['What is 17*23?', 'What is 17*24?'],
    ['Explain --max-cost', 'Explain --max-heads'],
    ['Population of Niger', 'Population of Nigeria'],
    ["Translate 'good morning' to Spanish", "Translate 'good morning' to Italian"],
    ['Summarise in 3 words', 'Summarise in 30 words'],
    ['¿Cuál es la capital de Francia?', 'What is the capital of Portugal?'],
  ])('D12 %s does not answer %s', async (first, second) => {
    expect(await askedAfter(first, second)).toEqual(['MISS', '']);
  });

  it('is not found by who wants the exact cache at most', async () => {
    const exact = { 'x-spillway-cache': 'exact' };
    expect(await askedAfter('Is the tent waterproof?', 'So is the tent waterproof', exact)).toEqual(['MISS', '']);
    expect(await askedAfter('Is the bag heavy?', 'Is the bag heavy?', exact)).toEqual(['HIT', 'exact']);
  });
});
