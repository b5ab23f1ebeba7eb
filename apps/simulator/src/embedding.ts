import type { JsonObject } from '@spillway/contracts';
import { tokensOf } from './tokens';

const MOST_DIMENSIONS = 4096;

/** The inputs of an embedding call as texts; null: there are none. Tokens given as numbers count as words. */
export function inputsOf(body: JsonObject): string[] | null {
  const input = body['input'];
  if (typeof input === 'string') return [input];
  if (!Array.isArray(input) || input.length === 0) return null;
  const items = input as readonly unknown[];
  if (items.every(item => typeof item === 'number')) return [items.join(' ')];
  return items.map(item => (Array.isArray(item) ? item.join(' ') : String(item)));
}

/** A vector that depends on the words of the text alone: equal texts are equal, texts that share words are near. */
export function embed(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  const words =
    text.toLowerCase().match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}]+/gu) ?? [];
  // The empty feature keeps a text without words away from the zero vector.
  addFeature(vector, '', 0.1);
  for (const word of words) addFeature(vector, word, 1);
  for (let index = 1; index < words.length; index += 1) {
    addFeature(vector, `${words[index - 1]} ${words[index]}`, 0.5);
  }
  const norm = Math.hypot(...vector) || 1;
  return vector.map(value => value / norm);
}

function addFeature(vector: Float32Array, feature: string, weight: number): void {
  let hash = 0x811c9dc5;
  for (let index = 0; index < feature.length; index += 1) {
    hash = Math.imul(hash ^ feature.charCodeAt(index), 0x01000193);
  }
  // FNV leaves its high bits badly mixed for short texts; the sign is taken from there.
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  hash = (hash ^ (hash >>> 13)) >>> 0;
  const at = hash % vector.length;
  vector[at] = (vector[at] ?? 0) + (hash >>> 31 === 1 ? -weight : weight);
}

export function embeddingTokens(inputs: readonly string[]): number {
  return inputs.reduce((sum, input) => sum + tokensOf(input), 0);
}

/** The body of the answer, in the form that the call asks for. */
export function embeddingJson(body: JsonObject, model: string, inputs: readonly string[], standard: number): string {
  const dimensions = dimensionsOf(body) ?? standard;
  const base64 = body['encoding_format'] === 'base64';
  const data = inputs.map((input, index) => {
    const vector = embed(input, dimensions);
    return { object: 'embedding', index, embedding: base64 ? toBase64(vector) : Array.from(vector) };
  });
  const tokens = embeddingTokens(inputs);
  return JSON.stringify({ object: 'list', data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } });
}

/** Little-endian 32-bit floats, as the API has them. */
function toBase64(vector: Float32Array): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64');
}

function dimensionsOf(body: JsonObject): number | null {
  const asked = body['dimensions'];
  return typeof asked === 'number' && Number.isInteger(asked) && asked >= 1 && asked <= MOST_DIMENSIONS ? asked : null;
}
