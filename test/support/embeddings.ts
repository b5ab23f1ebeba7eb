import type { Step } from './upstream-step';

/** Answers embedding calls with the vectors that a test gives its texts. */
export function embeddings(
  vectorOf: (text: string) => readonly number[],
): (request: { readonly body: string }) => Step {
  return ({ body }) => {
    const { input } = JSON.parse(body) as { input: readonly string[] };
    const data = input.map((text, index) => ({ object: 'embedding', index, embedding: vectorOf(text) }));
    return { json: { object: 'list', data, model: 'e', usage: { prompt_tokens: 1, total_tokens: 1 } } };
  };
}

/** Vectors of which any two of the texts have this cosine; all other texts are far from them. */
export function allNear(texts: readonly string[], cosine: number): (text: string) => readonly number[] {
  return text => {
    const place = texts.indexOf(text);
    const vector = Array.from({ length: texts.length + 2 }, () => 0);
    if (place < 0) vector[texts.length + 1] = 1;
    else {
      vector[texts.length] = Math.sqrt(cosine);
      vector[place] = Math.sqrt(1 - cosine);
    }
    return vector;
  };
}
