import { questionsOfLog } from './log-questions';

const asked = (content: string, more: object = {}): string =>
  JSON.stringify({ model: 'qa', messages: [{ role: 'user', content }], ...more });

describe('the questions of a log', () => {
  it('are seeded once however they were worded, the most frequent first', async () => {
    const { lines, asked: all } = await questionsOfLog([
      '{"question":"Does it float?","scope":"boat"}',
      '{"question":"Is the boat waterproof?","scope":"boat"}',
      '{"question":"Is the boat waterproof, please?","scope":"boat"}',
      '',
      '{"question":"is the boat waterproof","scope":"boat"}',
      '{"question":"Is the boat waterproof?","scope":"tent"}',
    ]);
    expect(all).toBe(5);
    expect(lines.map(line => JSON.parse(line) as unknown)).toEqual([
      { question: 'Is the boat waterproof?', scope: 'boat' },
      { question: 'Does it float?', scope: 'boat' },
      { question: 'Is the boat waterproof?', scope: 'tent' },
    ]);
  });

  it('may stand in requests, and in envelopes around them; who asked and what was answered is left out', async () => {
    const { lines } = await questionsOfLog([
      asked('Is it red?', { user: 'u-1', stream: true, stream_options: {}, temperature: 0 }),
      JSON.stringify({ custom_id: 'a', url: '/v1/chat/completions', body: JSON.parse(asked('Is it blue?')) as object }),
      '{"question":"Is it green?","answer":"No."}',
    ]);
    expect(lines.map(line => JSON.parse(line) as unknown)).toEqual([
      { model: 'qa', messages: [{ role: 'user', content: 'Is it red?' }], temperature: 0 },
      { model: 'qa', messages: [{ role: 'user', content: 'Is it blue?' }] },
      { question: 'Is it green?' },
    ]);
  });

  it('are left out where the answer holds for one caller or one moment, and counted by the rule', async () => {
    const { lines, refused } = await questionsOfLog([
      asked('What is the weather today?'),
      asked('Where is my order?'),
      asked('Cancel the newsletter'),
      asked('请问今天天气怎么样'),
      JSON.stringify({ messages: [{ role: 'assistant', content: 'No question.' }] }),
      asked('Is it waterproof?'),
    ]);
    expect(lines).toHaveLength(1);
    expect(Object.fromEntries(refused)).toEqual({ volatile: 2, personal: 1, action: 1, none: 1 });
  });

  it('that cannot be read are named by their line', async () => {
    const { lines, bad } = await questionsOfLog(['', 'oops', asked('Is it waterproof?'), '{"prompt":"Is it?"}']);
    expect(lines).toHaveLength(1);
    expect(bad.map(({ line }) => line)).toEqual([2, 4]);
  });
});
