import { isJsonObject, type JsonObject, type JsonValue } from '@spillway/contracts';
import { normalise } from './embedder';

/** An answer of an embedding endpoint that cannot be used. */
export class UnusableVectors extends Error {
  constructor(readonly kind: string) {
    super(kind);
    this.name = 'UnusableVectors';
  }
}

/**
 * The vectors of an answer in the order of the texts, each of length 1.
 * @throws UnusableVectors when there are not `count` of them, or one is no vector.
 */
export function vectorsOf(body: JsonObject, count: number): Float32Array[] {
  const data = body['data'];
  if (!Array.isArray(data) || data.length !== count) throw new UnusableVectors('another number of vectors than texts');
  const vectors: Float32Array[] = [];
  data.forEach((entry: JsonValue, place) => {
    if (!isJsonObject(entry)) throw new UnusableVectors('an entry that is no object');
    const index = typeof entry['index'] === 'number' ? entry['index'] : place;
    vectors[index] = vectorOf(entry['embedding']);
  });
  if (vectors.length !== count || Object.keys(vectors).length !== count) {
    throw new UnusableVectors('vectors out of order');
  }
  return vectors;
}

function vectorOf(value: JsonValue | undefined): Float32Array {
  const vector = typeof value === 'string' ? fromBase64(value) : fromNumbers(value);
  if (vector === null || !normalise(vector)) throw new UnusableVectors('a vector without direction');
  return vector;
}

function fromNumbers(value: JsonValue | undefined): Float32Array | null {
  if (!Array.isArray(value) || !value.every(number => typeof number === 'number')) return null;
  return Float32Array.from(value);
}

/** Little-endian numbers of four bytes, which some servers send whatever they are asked for. */
function fromBase64(text: string): Float32Array | null {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length % 4 !== 0) return null;
  return Float32Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(4 * index));
}
