import { bleu4 } from './bleu';

describe('BLEU-4', () => {
  it('is 1 for the same words, however they are written', () => {
    expect(bleu4('Paris', 'paris')).toBe(1);
    expect(bleu4('The kettle, it holds TWO litres!', 'the kettle: it holds two litres.')).toBeCloseTo(1);
    expect(bleu4('这款水壶可以装两升水。', '这款水壶可以装两升水')).toBeCloseTo(1);
  });

  it('is 0 without a word in common, and for nothing', () => {
    expect(bleu4('London', 'Paris')).toBe(0);
    expect(bleu4('', 'Paris')).toBe(0);
    expect(bleu4('…', 'Paris')).toBe(0);
  });

  it('counts a word no more often than the reference has it: the example of the paper, smoothed', () => {
    const precisions = [2 / 7, 1 / 7, 1 / 6, 1 / 5];
    const expected = precisions.reduce((product, one) => product * one) ** (1 / 4);
    expect(bleu4('the the the the the the the', 'The cat is on the mat')).toBeCloseTo(expected, 10);
  });

  it('is less for an answer that is too short, by exp(1 - r/c)', () => {
    expect(bleu4('the cat is', 'the cat is on the mat')).toBeCloseTo(Math.exp(1 - 6 / 3), 10);
  });

  it('falls with the order of words, and with words beside the answer', () => {
    const reference = 'the warranty lasts two years from the day of purchase';
    const near = bleu4('the warranty lasts three years from the day of purchase', reference);
    const shuffled = bleu4('purchase of day the from years two lasts warranty the', reference);
    const wordy = bleu4(`${'as far as we can tell '.repeat(5)}${reference}`, reference);
    expect(near).toBeGreaterThan(0.6);
    expect(shuffled).toBeLessThan(0.3);
    expect(wordy).toBeLessThan(0.5);
  });

  it('compares Chinese by the character', () => {
    expect(bleu4('水壶可以装三升水', '水壶可以装两升水')).toBeGreaterThan(0.5);
    expect(bleu4('请联系客服', '水壶可以装两升水')).toBe(0);
  });
});
