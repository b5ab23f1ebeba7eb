import { pipeline, Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { ByteSource } from './exchange';

const DECODERS: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/** The bytes as they were before compression. None is asked for, but some servers compress regardless. */
export function decoded(source: ByteSource, encoding: string | undefined): ByteSource {
  const createDecoder = DECODERS.get(encoding?.trim().toLowerCase() ?? '');
  if (!createDecoder) return source;
  const decoder = createDecoder();
  // Its error also reaches whoever reads the decoder.
  pipeline(Readable.from(piecesOf(source)), decoder, () => undefined);
  const pieces: AsyncIterator<Buffer> = decoder[Symbol.asyncIterator]();
  return {
    read: async () => {
      const next = await pieces.next();
      return next.done ? null : next.value;
    },
  };
}

async function* piecesOf(source: ByteSource): AsyncGenerator<Buffer> {
  for (let piece = await source.read(); piece !== null; piece = await source.read()) yield piece;
}
