import counts from '../../../../test/data/token-counts.json';
import { Calibration } from './calibration';
import type { InputMeasure } from './input-measure';
import { measureInput } from './measure-input';

/*
 * Texts with what three real tokenizers make of them: one that the estimate was fitted to, its predecessor (Chinese:
 * 1.4 times as many tokens) and an old one (Chinese: 2.5 times, code: 1.2 times).
 */
type Tokenizer = 'o200k' | 'cl100k' | 'p50k';
type Sample = (typeof counts)[number];

const TOKENIZERS: readonly Tokenizer[] = ['o200k', 'cl100k', 'p50k'];
const KINDS = ['english', 'chinese', 'code'];
const CASES = TOKENIZERS.flatMap(tokenizer => KINDS.map(kind => [tokenizer, kind] as const));

/** What a provider adds to a single message. */
const TEMPLATE_TOKENS = 7;

const measured = ({ text }: Sample): InputMeasure =>
  measureInput({ messages: [{ role: 'user', content: text }] }, 'chat');
const reported = (sample: Sample, tokenizer: Tokenizer): number => sample[tokenizer] + TEMPLATE_TOKENS;

/** Always the same order, without runs of one kind. */
const mixed = counts.map((sample, index) => ({ sample, at: (index * 61) % counts.length }));
const samples = mixed.toSorted((one, other) => one.at - other.at).map(({ sample }) => sample);
const ofKind = (kind: string): readonly Sample[] => samples.filter(sample => sample.kind === kind);

function taught(calls: number, lessons: readonly Sample[], tokenizer: Tokenizer): Calibration {
  const calibration = new Calibration();
  for (let call = 0; call < calls; call++) {
    const sample = lessons[call % lessons.length];
    if (sample !== undefined) calibration.learn(measured(sample), reported(sample, tokenizer));
  }
  return calibration;
}

function errorOf(calibration: Calibration, unseen: readonly Sample[], tokenizer: Tokenizer): number {
  const errors = unseen.map(sample => {
    const truth = reported(sample, tokenizer);
    return Math.abs(calibration.apply(measured(sample)) - truth) / truth;
  });
  return errors.reduce((sum, error) => sum + error, 0) / errors.length;
}

it('starts with the uncorrected estimate', () => {
  const [sample] = samples;
  if (sample === undefined) throw new Error('no samples');
  expect(new Calibration().apply(measured(sample))).toBe(measured(sample).total());
});

it.each(KINDS)('is within 10 %% on %s before any call, for the tokenizer it was fitted to', kind => {
  expect(errorOf(new Calibration(), ofKind(kind), 'o200k')).toBeLessThan(0.1);
});

it.each(CASES)('%s, %s: within 15 %% on unseen texts after 50 calls', (tokenizer, kind) => {
  const texts = ofKind(kind);
  const half = Math.floor(texts.length / 2);
  const calibration = taught(50, texts.slice(0, half), tokenizer);
  expect(errorOf(calibration, texts.slice(half), tokenizer)).toBeLessThan(0.15);
});

it.each(CASES)('%s, %s: within 15 %% on unseen texts after 50 calls of all kinds', (tokenizer, kind) => {
  const calibration = taught(50, samples.slice(0, 50), tokenizer);
  const unseen = samples.slice(50).filter(sample => sample.kind === kind);
  expect(errorOf(calibration, unseen, tokenizer)).toBeLessThan(0.15);
});

it('does not unlearn one language by another', () => {
  const calibration = taught(200, ofKind('chinese'), 'p50k');
  for (const sample of ofKind('english')) calibration.learn(measured(sample), reported(sample, 'p50k'));
  expect(errorOf(calibration, ofKind('chinese'), 'p50k')).toBeLessThan(0.15);
});

it('is hardly moved by a single absurd report, and not at all by an impossible one', () => {
  const english = ofKind('english');
  const [first] = english;
  if (first === undefined) throw new Error('no samples');
  const calibration = taught(100, english, 'o200k');
  for (const impossible of [0, -5, NaN, Infinity]) calibration.learn(measured(first), impossible);
  calibration.learn(measured(first), 1e9);
  expect(errorOf(calibration, english, 'o200k')).toBeLessThan(0.1);
});

it('follows a model whose tokenizer changes', () => {
  const chinese = ofKind('chinese');
  const calibration = taught(200, chinese, 'o200k');
  for (let round = 0; round < 5; round++)
    for (const sample of chinese) calibration.learn(measured(sample), reported(sample, 'p50k'));
  expect(errorOf(calibration, chinese, 'p50k')).toBeLessThan(0.15);
});

it('stays within bounds whatever is reported', () => {
  const [sample] = samples;
  if (sample === undefined) throw new Error('no samples');
  const calibration = new Calibration();
  for (let call = 0; call < 1000; call++) calibration.learn(measured(sample), Number.MAX_VALUE);
  expect(calibration.apply(measured(sample))).toBeLessThanOrEqual(16 * measured(sample).total() + 1);
  for (let call = 0; call < 3000; call++) calibration.learn(measured(sample), Number.MIN_VALUE);
  expect(calibration.apply(measured(sample))).toBeGreaterThanOrEqual(1);
});
