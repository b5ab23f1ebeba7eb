import { BadLine, readSeed } from './seed-line';

describe('a line of seeds', () => {
  it('with a question is that message and nothing else', () => {
    expect(readSeed('{"question":"Is it waterproof?","scope":" sku-7 ","route":"qa","id":3,"temperature":1}')).toEqual({
      scope: 'sku-7',
      route: 'qa',
      request: { messages: [{ role: 'user', content: 'Is it waterproof?' }] },
      answer: null,
    });
  });

  it('with messages keeps whatever else shapes the answer', () => {
    const line = { messages: [{ role: 'system', content: 'Be brief.' }], temperature: 0, answer: 'Yes.' };
    expect(readSeed(JSON.stringify(line))).toEqual({
      scope: '',
      route: null,
      request: { messages: line.messages, temperature: 0 },
      answer: 'Yes.',
    });
  });

  it('may be a request as OpenAI knows it, whose model is the route', () => {
    const { route, request } = readSeed('{"model":"assistant","messages":[{"role":"user","content":"Hi"}]}');
    expect([route, Object.keys(request)]).toEqual(['assistant', ['messages']]);
  });

  it('names its scope as the header of a caller that writes UTF-8 does', () => {
    const { scope } = readSeed('{"question":"Is it?","scope":"手机"}');
    expect(Buffer.from(scope, 'latin1').toString()).toBe('手机');
  });

  it('may name its scope by a number', () => {
    expect(readSeed('{"question":"Is it?","scope":4711}').scope).toBe('4711');
  });

  it.each([
    ['{"question":', 'valid JSON'],
    ['[1]', 'JSON object'],
    ['null', 'JSON object'],
    ['{}', 'neither a question nor messages'],
    ['{"question":""}', 'question must be a text'],
    ['{"question":["Is it?"]}', 'question must be a text'],
    ['{"question":"Is it?","messages":[{}]}', 'both'],
    ['{"messages":[]}', 'at least one message'],
    ['{"messages":["Is it?"]}', 'at least one message'],
    ['{"question":"Is it?","answer":" "}', 'answer must be a text'],
    ['{"question":"Is it?","answer":{}}', 'answer must be a text'],
    ['{"question":"Is it?","scope":"a\\nb"}', 'no header can carry'],
    ['{"question":"Is it?","route":["a"]}', 'route must be a text'],
  ])('%s is refused with the reason', (text, reason) => {
    expect(() => readSeed(text)).toThrow(BadLine);
    expect(() => readSeed(text)).toThrow(reason);
  });
});
