import type { QualitySignal } from '@spillway/contracts';
import { AnswerSample } from './answer-sample';
import { QualityWatch } from './quality-watch';
import { repeatedShare } from './repetition';
import { signalsIn, wantsJson, type InspectedAnswer } from './signals';
import { wordsOf } from './words';

const PROSE =
  'The kettle holds two litres and boils them in about four minutes. Its handle stays cool, and the lid opens wide ' +
  'enough for a hand with a sponge. A switch at the back keeps water warm for an hour; after that it turns itself off. ' +
  'We would rinse it once before the first use, since dust from the factory may lie in it.';
const CHINESE =
  '这款水壶可以装两升水，大约四分钟就能烧开。把手不烫，盖子开口很大，方便清洗。背面的开关可以保温一个小时，之后会自动断电。第一次使用前请先冲洗一遍。';

const sampleOf = (text: string, finishReason: string | null = 'stop'): InspectedAnswer['sample'] => ({
  text,
  finishReason,
  isWhole: true,
  callsTools: false,
});
const answer = (changes: Partial<InspectedAnswer> = {}): InspectedAnswer => ({
  sample: sampleOf(PROSE),
  outputTokens: 100,
  usualTokens: null,
  allowedTokens: null,
  wantsJson: false,
  isStream: false,
  writingMs: 1_000,
  failsCanary: false,
  ...changes,
});
const all = (): boolean => true;
const allBut =
  (off: QualitySignal) =>
  (signal: QualitySignal): boolean =>
    signal !== off;

describe('words', () => {
  it('are runs of letters and digits in small letters, and single characters of Chinese and Japanese', () => {
    const text = 'Größe: 2½ L, 漢字かな_ｶﾞ 😀 𝒳-ไทย 𠀀x \ud800y';
    const words = ['größe', '21', '2', 'l', '漢', '字', 'か', 'な', 'ガ', 'x', 'ไทย', '𠀀', 'x', 'y'];
    expect(wordsOf(text)).toEqual(words);
  });
});

describe('repeated trigrams', () => {
  it.each([PROSE, CHINESE, '', 'yes', 'no no no no'])('are none in what people write: %#', text => {
    expect(repeatedShare(text)).toBe(0);
  });

  it.each([
    `${PROSE} ${'I am sorry about that. '.repeat(10)}`,
    `${CHINESE}${'很抱歉给您带来不便。'.repeat(10)}`,
    'word '.repeat(100),
    `${PROSE.repeat(100)}`,
  ])('are many where a model runs in circles: %#', text => {
    expect(repeatedShare(text)).toBeGreaterThan(0.08);
  });

  it('cost no more for a longer text', () => {
    const fastest = (text: string): number => {
      const times = Array.from({ length: 9 }, () => {
        const begun = performance.now();
        repeatedShare(text);
        return performance.now() - begun;
      });
      return Math.min(...times);
    };
    const words = 'a b c d e f g '.repeat(1_000);
    expect(fastest(words.repeat(1_000))).toBeLessThan(50 * fastest(words));
  });
});

describe('signals in one answer', () => {
  it.each<[QualitySignal, Partial<InspectedAnswer>]>([
    ['repetition', { sample: sampleOf('again and again '.repeat(40)) }],
    ['truncated', { sample: sampleOf(PROSE, 'length') }],
    ['truncated', { sample: sampleOf(PROSE, 'length'), outputTokens: 50, allowedTokens: 100 }],
    ['filtered', { sample: sampleOf(PROSE, 'content_filter') }],
    ['json', { sample: sampleOf('{"a": 1'), wantsJson: true }],
    ['json', { sample: sampleOf('```json\n{}\n```'), wantsJson: true }],
  ])('%s, unless it is switched off: %#', (signal, changes) => {
    expect(signalsIn(answer(changes), all)).toEqual([signal]);
    expect(signalsIn(answer(changes), allBut(signal))).toEqual([]);
  });

  it.each<Partial<InspectedAnswer>>([
    {},
    { sample: sampleOf(PROSE, 'length'), outputTokens: 100, allowedTokens: 100 },
    { sample: sampleOf('{"a": [1, 2]}'), wantsJson: true },
    { sample: sampleOf('{"a": 1', 'length'), wantsJson: true, allowedTokens: 100 },
    { sample: { ...sampleOf('end of something long"}'), isWhole: false }, wantsJson: true },
    { sample: { ...sampleOf(''), callsTools: true, finishReason: 'tool_calls' }, wantsJson: true },
  ])('none in a good one: %#', changes => {
    expect(signalsIn(answer(changes), all)).toEqual([]);
  });

  it('asks for JSON only of those who were asked for it', () => {
    expect(
      [{ type: 'json_object' }, { type: 'json_schema' }].map(format => wantsJson({ response_format: format })),
    ).toEqual([true, true]);
    expect([{ type: 'text' }, null, 'json'].map(format => wantsJson({ response_format: format }))).toEqual([
      false,
      false,
      false,
    ]);
  });
});

describe('against the habits of the model', () => {
  const times = (watch: QualityWatch, count: number, changes: Partial<InspectedAnswer>) =>
    Array.from({ length: count }, () => watch.inspect('m', answer(changes), all)).at(-1);

  it('short answers count once they are more than a third', () => {
    const watch = new QualityWatch();
    times(watch, 40, { usualTokens: 100 });
    expect(times(watch, 10, { usualTokens: 100, outputTokens: 59 })?.signals).toEqual([]);
    expect(times(watch, 30, { usualTokens: 100, outputTokens: 59 })).toEqual({ signals: ['short'], weight: 0.3 });
    expect(watch.inspect('m', answer({ usualTokens: 100 }), all).weight).toBe(0);
    expect(watch.inspect('other', answer({ usualTokens: 100, outputTokens: 1 }), all).weight).toBe(0);
  });

  it('a speed far below the usual one is a collapse, and becomes usual only slowly', () => {
    const watch = new QualityWatch();
    times(watch, 20, { writingMs: 1_000 });
    expect(watch.inspect('m', answer({ writingMs: 2_900 }), all).signals).toEqual([]);
    expect(times(watch, 10, { writingMs: 6_000 })?.signals).toEqual(['speed']);
    expect(times(watch, 200, { writingMs: 6_000 })?.signals).toEqual([]);
  });

  it('streams are compared with streams, and very short ones not at all', () => {
    const watch = new QualityWatch();
    times(watch, 30, { writingMs: 1_000 });
    expect(times(watch, 5, { writingMs: 9_000, isStream: true })?.signals).toEqual([]);
    expect(times(watch, 1, { writingMs: 9_000, outputTokens: 3 })?.signals).toEqual([]);
  });

  it('several signals add up, to a failure at most', () => {
    const broken = { sample: sampleOf('again and again '.repeat(40)), wantsJson: true };
    expect(new QualityWatch().inspect('m', answer(broken), all)).toEqual({
      signals: ['repetition', 'json'],
      weight: 0.8,
    });
  });
});

describe('the sample of an answer', () => {
  const chunk = (delta: object, finish_reason: string | null = null, index = 0) => ({
    body: { choices: [{ index, delta: { ...delta }, finish_reason }] },
  });

  it('gathers the first choice of a stream', () => {
    const sample = new AnswerSample();
    for (const part of [chunk({ role: 'assistant' }), chunk({ content: 'a' }), chunk({ content: 'x' }, null, 1)])
      sample.add(part);
    sample.add(chunk({ content: 'b' }, 'stop'));
    sample.add({ body: { choices: [], usage: null } });
    expect(sample).toMatchObject({ text: 'ab', finishReason: 'stop', callsTools: false, isWhole: true });
  });

  it('reads a whole answer, and one that calls tools', () => {
    const sample = new AnswerSample();
    const message = { content: null, tool_calls: [{ id: 'c' }] };
    sample.add({ body: { choices: [{ message, finish_reason: 'tool_calls' }] } });
    expect(sample).toMatchObject({ text: '', finishReason: 'tool_calls', callsTools: true });
  });

  it('keeps the end of what is long', () => {
    const sample = new AnswerSample();
    for (let index = 0; index < 10_000; index++) sample.add(chunk({ content: 'ten letter' }));
    sample.add(chunk({ content: 'END' }));
    expect(sample.text.length).toBeLessThan(33_000);
    expect([sample.text.endsWith('END'), sample.isWhole]).toEqual([true, false]);
  });
});
