import fc from 'fast-check';
import { BuiltinEmbedder } from './builtin-embedder';

const embedder = new BuiltinEmbedder();

async function cosine(left: string, right: string): Promise<number> {
  const [one, other] = (await embedder.embed([left, right])) as [Float32Array, Float32Array];
  return one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0);
}

describe('BuiltinEmbedder', () => {
  it('gives every text a vector of length 1', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 60 }), async text => {
        const [vector] = await embedder.embed([text]);
        expect(vector).toHaveLength(384);
        expect(Math.hypot(...(vector ?? []))).toBeCloseTo(1, 4);
      }),
    );
    for (const text of ['', '   ', '?!', '🚀', '\ud83d', 'x'.repeat(100_000), '问'.repeat(100_000)]) {
      const [vector] = await embedder.embed([text]);
      expect(Math.hypot(...(vector ?? []))).toBeCloseTo(1, 4);
    }
  });

  it.each([
    ['Is it Waterproof?', 'is it waterproof'],
    ['ｗａｔｅｒｐｒｏｏｆ　１０', 'waterproof 10'],
    ['这款手机防水吗？', '这款手机防水吗'],
    ['Ｉs it ＯＫ？', 'is it ok'],
  ])('sees no difference of case, width or punctuation: %s', async (one, other) => {
    expect(await cosine(one, other)).toBeCloseTo(1, 5);
  });

  it.each([
    ['How do I reset my password?', 'how can I reset my passwords', 'Where do you ship to?'],
    ['怎么重置登录密码', '如何重置登录密码？', '你们发货到哪里'],
    [
      'how long is the warranty on this phone',
      'how long is the phone warranty',
      'which colours does this laptop come in',
    ],
    ['这款手机能打游戏吗', '这手机可以打游戏吗', '这款手机多少钱'],
  ])('puts words that are alike nearer: %s', async (asked, alike, different) => {
    expect(await cosine(asked, alike)).toBeGreaterThan((await cosine(asked, different)) + 0.2);
  });

  it('tells texts without words apart', async () => {
    expect(await cosine('🚀', '🚀 ')).toBeCloseTo(1, 5);
    expect(Math.abs(await cosine('🚀', '🎉'))).toBeLessThan(0.5);
  });

  it('does not change unnoticed: with another vector comes another id', async () => {
    const [vector] = await embedder.embed(['Is the blue phone 防水吗 at 10 m?']);
    const digest = vector?.reduce((sum, value, index) => sum + value * (index % 17), 0);
    expect([embedder.id, digest?.toFixed(4)]).toEqual(['builtin-1', '8.0756']);
  });

  it('takes time in proportion to the length of a text, and looks at a bounded part of it', async () => {
    const timeOf = async (text: string): Promise<number> => {
      let fastest = Infinity;
      for (let round = 0; round < 9; round++) {
        const start = performance.now();
        await embedder.embed([text]);
        fastest = Math.min(fastest, performance.now() - start);
      }
      return fastest;
    };
    await timeOf('x'.repeat(4000));
    const long = await timeOf('x'.repeat(4000));
    expect(await timeOf('x'.repeat(400_000))).toBeLessThan(20 * long + 10);
  });
});
