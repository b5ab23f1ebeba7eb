import { isJsonObject, type JsonValue } from '@spillway/contracts';

/** An image in OpenAI's terms: `low` detail, and otherwise the four tiles of a usual picture. */
const LOW_DETAIL_TOKENS = 85;
const IMAGE_TOKENS = 765;

/** A file that is only referred to. */
const UNSEEN_MEDIUM_TOKENS = 2000;

/** No model takes more of one file. */
const LARGEST_MEDIUM_TOKENS = 100_000;

/** Ten tokens a second; a second is 48 000 bytes uncompressed and about 16 000 compressed. */
const BYTES_PER_TOKEN = new Map<unknown, number>([
  ['wav', 4800],
  ['pcm16', 4800],
  ['file', 32],
]);
const USUAL_BYTES_PER_TOKEN = 1600;

/** Tokens of an image part: by its detail, whatever the length of its address or data. */
export function imageTokens(image: JsonValue): number {
  return isJsonObject(image) && image.detail === 'low' ? LOW_DETAIL_TOKENS : IMAGE_TOKENS;
}

/** Tokens of a sound or file that came as base64, from its length; a short string is a reference. */
export function mediaTokens(data: JsonValue | undefined, format: JsonValue | undefined): number {
  if (typeof data !== 'string' || data.length < 200) return UNSEEN_MEDIUM_TOKENS;
  const perToken = BYTES_PER_TOKEN.get(format) ?? USUAL_BYTES_PER_TOKEN;
  return Math.min(LARGEST_MEDIUM_TOKENS, Math.ceil((data.length * 3) / 4 / perToken));
}
