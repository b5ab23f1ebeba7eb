import { gramsOf, rareCosine } from './grams';
import { Rarity } from './rarity';

describe('sequences of characters', () => {
  const rarity = new Rarity<number>();
  const near = (a: string, b: string): number => rareCosine(gramsOf(a), gramsOf(b), rarity);

  it('are the same whatever the typing', () => {
    expect(near('Hugging Face, models!', 'hugging  face models')).toBeCloseTo(1);
  });

  it('are shared by forms of a word, and by none of unrelated texts', () => {
    expect(near('creating images', 'the creation of an image')).toBeGreaterThan(0.3);
    expect(near('退货要多久', '退货需要多久')).toBeGreaterThan(0.2);
    expect(near('creating images', 'lost my wallet')).toBe(0);
    expect(near('', 'lost')).toBe(0);
  });

  it('count more where they are rare', () => {
    const [asked, common, rare] = ['red socket wrench', 'red hammer', 'blue wrench'];
    const before = near(asked, rare) - near(asked, common);
    for (let count = 0; count < 50; count++) rarity.seen(gramsOf(`red thing ${count}`));
    expect(near(asked, rare) - near(asked, common)).toBeGreaterThan(before);
  });
});
