import { sizeOf } from './sizes';

const whole = { streaming: false, operation: 'chat' } as const;
const stream = { streaming: true, operation: 'chat' } as const;
const vectors = { streaming: false, operation: 'embeddings' } as const;

describe('the size of a call', () => {
  it.each([
    ['a whole answer by what was written', whole, { input: 16, output: 300 }, 'chat8'],
    ['and a little by what was read', whole, { input: 16_000, output: 30 }, 'chat10'],
    ['a stream by what was read', stream, { input: 300, output: 4_000 }, 'first8'],
    ['embeddings by what was read', vectors, { input: 2_048, output: 0 }, 'embeddings11'],
    ['nothing at all', whole, { input: 0, output: 0 }, 'chat0'],
    ['for want of the usage by the prediction', whole, null, 'chat?9'],
    ['also of a stream', stream, null, 'first?9'],
  ])('is told of %s', (_, call, usage, expected) => {
    expect(sizeOf(call, usage, 600)).toBe(expected);
  });
});
