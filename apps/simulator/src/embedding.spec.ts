import { embed, embeddingJson, inputsOf } from './embedding';

const cosine = (a: Float32Array, b: Float32Array): number =>
  a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);

describe('embed', () => {
  it('gives unit vectors that are equal for equal texts and near for texts that share words', () => {
    const one = embed('how long does the delivery to Paris take', 256);
    const near = embed('how long does the delivery to Berlin take', 256);
    const far = embed('my dog likes cheese', 256);
    expect(cosine(one, one)).toBeCloseTo(1, 4);
    expect(embed('How long does the delivery to Paris take?', 256)).toEqual(one);
    expect(cosine(one, near)).toBeGreaterThan(cosine(one, far) + 0.3);
    expect(cosine(embed('配送需要多久', 256), embed('配送需要几天', 256))).toBeGreaterThan(0.3);
  });

  it('has a direction even for a text without words', () => {
    expect(cosine(embed('', 8), embed('!', 8))).toBeCloseTo(1, 4);
  });
});

describe('embeddingJson', () => {
  it('sends the same numbers as a list and as base64', () => {
    const body = { input: ['a b', 'c'], dimensions: 16 };
    const list = JSON.parse(embeddingJson(body, 'e', ['a b', 'c'], 256)) as { data: { embedding: number[] }[] };
    const base64 = JSON.parse(embeddingJson({ ...body, encoding_format: 'base64' }, 'e', ['a b', 'c'], 256)) as {
      data: { embedding: string }[];
    };
    const bytes = Buffer.from(base64.data[0]?.embedding ?? '', 'base64');
    expect(list.data[0]?.embedding).toHaveLength(16);
    expect(Array.from({ length: 16 }, (_, at) => bytes.readFloatLE(at * 4))).toEqual(list.data[0]?.embedding);
  });

  it('takes a text, texts, and tokens', () => {
    expect(inputsOf({ input: 'a' })).toEqual(['a']);
    expect(inputsOf({ input: ['a', 'b'] })).toEqual(['a', 'b']);
    expect(inputsOf({ input: [1, 2] })).toEqual(['1 2']);
    expect(inputsOf({ input: [[1], [2, 3]] })).toEqual(['1', '2 3']);
    expect(inputsOf({ input: [] })).toBeNull();
  });
});
