import type { Random } from '../../../simulator/src/random';
import type { Pool, Scenario } from '../scenario/schema';
import { zipf, type Pick } from './pick';

/** Something that is asked. */
export interface Question {
  /** The product it is about: answers are shared only within it. */
  readonly scope: string;
  /** What it wants to know: the same answer serves all questions of one intent. */
  readonly intent: string;
  readonly system: string;
  readonly text: string;
}

const LANGUAGES = ['en', 'zh'] as const;
type Language = (typeof LANGUAGES)[number];

/** The questions of a shop: products × intents × wordings in two languages, some asked much more than others. */
export class QuestionPool {
  private readonly product: Pick;
  private readonly intents: ReadonlyMap<string, Pick>;
  private readonly exponent: number;
  private readonly noise: number;

  constructor(
    private readonly pool: Pool,
    private readonly products: number,
    { popularity, noise }: Only<Scenario, 'popularity' | 'noise'>,
  ) {
    this.product = zipf(products, popularity.products);
    this.exponent = popularity.texts;
    this.noise = noise;
    this.intents = new Map(
      Object.entries(pool.kinds).map(([name, kind]) => [name, zipf(kind.intents.length, popularity.intents)]),
    );
  }

  draw(kindName: string, random: Random): Question {
    const kind = this.kind(kindName);
    const product = this.product(random);
    const intent = (this.intents.get(kindName) ?? zipf(1, 0))(random);
    const language: Language = random() < this.pool.chinese ? 'zh' : 'en';
    const texts = kind.intents[intent]?.[language] ?? [];
    const question = this.question(kindName, product, intent, language, zipf(texts.length, this.exponent)(random));
    return kind.typed && random() < this.noise ? { ...question, text: carelessly(question.text, random) } : question;
  }

  /** The questions that are known to be coming: best sellers, the most asked, in their usual wordings. */
  *common(share: number, intents: number, texts: number): Generator<Question> {
    for (let product = 0; product < Math.ceil(share * this.products); product++) {
      for (const [name, kind] of Object.entries(this.pool.kinds)) {
        for (let intent = 0; intent < Math.min(intents, kind.intents.length); intent++) {
          for (const language of LANGUAGES) {
            const wordings = Math.min(texts, kind.intents[intent]?.[language].length ?? 0);
            for (let text = 0; text < wordings; text++) yield this.question(name, product, intent, language, text);
          }
        }
      }
    }
  }

  private question(kindName: string, product: number, intent: number, language: Language, text: number): Question {
    const kind = this.kind(kindName);
    const asked = kind.intents[intent];
    return {
      scope: `product-${product + 1}`,
      intent: `${kindName}/${product + 1}/${asked?.name ?? ''}/${language}`,
      system: kind.system,
      text: (asked?.[language][text] ?? '').replaceAll('{product}', this.productName(product, language)),
    };
  }

  private kind(name: string): Pool['kinds'][string] {
    const kind = this.pool.kinds[name];
    if (kind === undefined) throw new Error(`The pool has no questions of the kind ${name}.`);
    return kind;
  }

  /** Every product has a name of its own, so that an answer about another one is noticed. */
  private productName(product: number, language: Language): string {
    const { brands, nouns } = this.pool;
    const noun = nouns[product % nouns.length]?.[language] ?? '';
    const series = Math.floor(product / nouns.length);
    const brand = brands[series % brands.length] ?? '';
    const edition = Math.floor(series / brands.length);
    return `${brand} ${noun}${edition === 0 ? '' : ` Series ${edition + 1}`}`;
  }
}

type Only<Whole, Keys extends keyof Whole> = { readonly [Key in Keys]: Whole[Key] };

const HABITS: readonly ((text: string) => string)[] = [
  text => text.toLowerCase(),
  text => text.replace(/[?？]$/, ''),
  text => (isLatin(text) ? `Hi, ${text}` : `你好，${text}`),
  text => (isLatin(text) ? text.replace(/\??$/, ' please?') : `请问${text}`),
  text => text.replace(/[?？]$/, '??'),
];

function carelessly(text: string, random: Random): string {
  return (HABITS[Math.floor(random() * HABITS.length)] ?? String)(text);
}

function isLatin(text: string): boolean {
  return !/\p{Script=Han}/u.test(text);
}
