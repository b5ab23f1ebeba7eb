import { RequestTooLarge } from '@spillway/contracts';

/** Sizes in bytes that are still taken. */
export interface SizeLimits {
  readonly all: number;
  readonly line: number;
}

/**
 * The lines of a text that comes in pieces, without the white space around them; blank ones too, so that a line's
 * number is that of its place.
 * @throws RequestTooLarge
 */
export async function* linesOf(source: AsyncIterable<Uint8Array>, limits: SizeLimits): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  let bytes = 0;
  for await (const piece of source) {
    bytes += piece.length;
    if (bytes > limits.all) throw tooLarge(`more than ${limits.all} bytes; send it in parts`);
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > limits.line) throw tooLarge(`a line of more than ${limits.line} bytes`);
    for (const line of lines) yield line.trim();
  }
  rest = (rest + decoder.decode()).trim();
  if (rest !== '') yield rest;
}

function tooLarge(what: string): RequestTooLarge {
  return new RequestTooLarge(`The request is larger than this server takes: ${what}.`, { retryable: false });
}
