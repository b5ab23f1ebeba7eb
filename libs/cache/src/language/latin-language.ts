import { normalise } from './normalise';

/** Words that most sentences of a language hold some of. */
const FREQUENT: readonly ReadonlySet<string>[] = [
  'the a an of is are was do does did what how why where who which can i my you your to in on for with and it this not',
  'el la los las un una de del es son qué que cómo cuál cuáles dónde cuándo puedo mi tu su en con para por y se al no hay',
  'le la les un une de du des est sont que quel quelle comment où pourquoi puis je mon ma votre en dans avec pour et ce',
  'der die das den dem ein eine einen ist sind was wie wo warum wer kann ich mein meine sie ihr zu in mit für und es nicht',
  'o a os as um uma de do da dos é são que como qual onde quando posso meu minha seu em no na com para por e se não há',
  'il lo la gli le un una di del della è sono che come qual quale dove quando posso mio mia in con per e si non c',
].map(words => new Set(words.split(' ')));

/** Fewer are a name or a word that came over. */
const LEAST_WORDS = 2;

/**
 * Whether two texts in Latin letters may be of one language: an answer is of the language of its question. Texts
 * without enough frequent words may be of any.
 */
export function mayBeOneLanguage(a: string, b: string): boolean {
  const [left, right] = [languagesOf(a), languagesOf(b)];
  return left.length === 0 || right.length === 0 || left.some(language => right.includes(language));
}

/** Those of which a text holds the most words; several for sentences that could be of either. */
function languagesOf(text: string): readonly number[] {
  const words = normalise(text).match(/\p{L}+/gu) ?? [];
  const counts = FREQUENT.map(frequent => words.filter(word => frequent.has(word)).length);
  const most = Math.max(...counts);
  if (most < LEAST_WORDS) return [];
  return counts.flatMap((count, language) => (count === most ? [language] : []));
}
