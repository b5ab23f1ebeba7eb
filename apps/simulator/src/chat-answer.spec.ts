import { composeAnswer, lengthOf, spoilAnswer } from './chat-answer';
import { seededRandom } from './random';
import { DEFAULT_MODEL, type Fault } from './settings';

const ask = (content: unknown): { messages: { role: string; content: never }[] } => ({
  messages: [{ role: 'user', content: content as never }],
});
const compose = (body: object, settings: Partial<typeof DEFAULT_MODEL.answer> = {}): ReturnType<typeof composeAnswer> =>
  composeAnswer(body as never, { ...DEFAULT_MODEL.answer, ...settings }, seededRandom(1));
const textOf = (pieces: readonly string[]): string => pieces.join('');

describe('composeAnswer', () => {
  it('says that it is a simulator and what it was asked', () => {
    const answer = compose(ask('Why is the sky blue?'));
    expect(textOf(answer.pieces)).toBe(
      "This is Spillway's simulator, not a real model. You asked: Why is the sky blue?",
    );
    expect(answer.finish).toBe('stop');
  });

  it('reads text parts, and never cuts a character in half', () => {
    const parts = ask([
      { type: 'text', text: `${'x'.repeat(399)}😀` },
      { type: 'image_url', image_url: { url: 'data:' } },
    ]);
    const text = textOf(compose(parts).pieces);
    expect(text).toContain(`${'x'.repeat(399)}…`);
    expect(Buffer.from(text).toString()).toBe(text);
  });

  it('ends at max_tokens and says so', () => {
    expect(compose({ ...ask('hi'), max_tokens: 3 })).toMatchObject({ finish: 'length', pieces: { length: 3 } });
    expect(compose({ ...ask('hi'), max_completion_tokens: 2, max_tokens: 9 }).pieces).toHaveLength(2);
    expect(compose({ ...ask('hi'), max_tokens: 500 }).finish).toBe('stop');
  });

  it('ends before the first stop text', () => {
    const answer = compose({ ...ask('one two three'), stop: ['three', ' two'] });
    expect(textOf(answer.pieces)).toMatch(/You asked: one$/);
    expect(answer.finish).toBe('stop');
  });

  it('gives fixed texts and texts of a length', () => {
    expect(textOf(compose(ask('hi'), { mode: 'fixed', text: 'pong' }).pieces)).toBe('pong');
    const long = compose(ask('hi'), { mode: 'lengths', tokens: 200 });
    expect(long.pieces).toHaveLength(200);
    expect(textOf(long.pieces)).toContain("Spillway's simulator");
  });

  it('does not repeat itself in long texts', () => {
    const words = textOf(compose(ask('hi'), { mode: 'lengths', tokens: 1000 }).pieces).split(' ');
    const counts = new Map<string, number>();
    for (let index = 2; index < words.length; index += 1) {
      const key = words.slice(index - 2, index + 1).join(' ');
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    expect([...counts.values()].filter(count => count >= 3)).toEqual([]);
  });
});

describe('spoilAnswer', () => {
  const answer = compose(ask('tell me something'));
  const spoil = (kind: Fault['kind']): typeof answer => spoilAnswer(answer, { kind });

  it('makes answers bad without more tokens than were booked', () => {
    expect(spoil('empty')).toEqual({ pieces: [], finish: 'stop' });
    expect(spoil('short').pieces.length).toBeLessThan(answer.pieces.length * 0.6);
    expect(spoil('content-filter').finish).toBe('content_filter');
    expect(spoil('no-finish').finish).toBeNull();
    expect(spoil('repeat').pieces).toHaveLength(answer.pieces.length);
    expect(textOf(spoil('repeat').pieces).match(/simulator repeats itself/g)?.length).toBeGreaterThanOrEqual(3);
    expect(spoilAnswer(answer, null)).toBe(answer);
  });
});

describe('lengthOf', () => {
  it('quotes the whole question in the first line of an answer of a drawn length', () => {
    const quoted = compose(ask('Why is the sky blue?'), { mode: 'lengths', tokens: 60, quote: true });
    expect(textOf(quoted.pieces)).toMatch(/You asked: Why is the sky blue\?\n/);
    expect(quoted.pieces).toHaveLength(60);
    const short = compose(ask('Why is the sky blue?'), { mode: 'lengths', tokens: 3, quote: true });
    expect(textOf(short.pieces)).toMatch(/Why is the sky blue\?\n$/);
  });

  it('draws lengths from its spread, the same for the same seed', () => {
    const draw = (seed: number): number[] => {
      const random = seededRandom(seed);
      return Array.from({ length: 2000 }, () =>
        lengthOf({ min: 10, max: 1000, lognormal: { median: 100, sigma: 0.7 } }, random),
      );
    };
    const lengths = draw(7).toSorted((a, b) => a - b);
    expect(draw(7)).toEqual(draw(7));
    expect(draw(8)).not.toEqual(draw(7));
    expect(lengths[0]).toBeGreaterThanOrEqual(10);
    expect(lengths.at(-1)).toBeLessThanOrEqual(1000);
    expect(Math.abs((lengths[1000] ?? 0) - 100)).toBeLessThan(15);
    expect(lengthOf({ min: 5, max: 5 }, seededRandom(1))).toBe(5);
  });
});
