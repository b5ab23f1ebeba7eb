import { isMistyped } from './spelling';

describe('a mistyped word', () => {
  it.each([
    ['accomodation', 'accommodation'],
    ['pasword', 'password'],
    ['recieve', 'receive'],
    ['warrantty', 'warranty'],
  ])('%s is %s', (slip, word) => {
    expect(isMistyped(slip, word)).toBe(isMistyped(word, slip));
    expect(isMistyped(slip.replace(/e$/, ''), word.replace(/e$/, ''))).toBe(true);
  });

  it.each([
    ['johnson', 'johnston'],
    ['nitrate', 'nitrite'],
    ['desert', 'dessert'],
    ['costumer', 'customer'],
    ['trial', 'trail'],
    ['symptomatic', 'asymptomatic'],
    ['conversation', 'conservation'],
  ])('%s is not %s', (a, b) => {
    expect(isMistyped(a, b)).toBe(false);
  });
});
