import { z } from 'zod';

/** The longest time a timer of the runtime can wait; a longer one would fire at once. */
const LONGEST_TIMER_MS = 2_147_483_647;

export const whole = (least: number, most = Number.MAX_SAFE_INTEGER) => z.int().min(least).max(most);
export const milliseconds = (least = 1) => whole(least, LONGEST_TIMER_MS);
export const seconds = () => whole(1, LONGEST_TIMER_MS);
export const ratio = () => z.number().min(0).max(1);
export const positive = () => z.number().positive();
export const port = () => whole(0, 65_535);

const NAME = /^(?!\s)[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,128}(?<!\s)$/u;

/** A name of the configuration. It is encoded wherever it enters a header, a key or a label. */
export const name = () => z.string().regex(NAME, 'expected 1 to 128 printable characters, no space around them');

const VISIBLE = /^[\x21-\x7e]*$/;
const NOT_VISIBLE = 'expected visible ASCII characters without white space';

/** A secret that travels in headers: what headers cannot carry fails here rather than on every call. */
export const secret = () => z.string().min(1, 'empty').regex(VISIBLE, NOT_VISIBLE);

/** Empty means none, so that `${NAME:-}` can be written. */
export const optionalSecret = () => z.string().regex(VISIBLE, NOT_VISIBLE).optional().transform(emptyIsAbsent);

/** As Standard Webhooks have it: 24 to 64 bytes. */
const WEBHOOK_SECRET = /^(?:whsec_[A-Za-z0-9+/]{32,86}={0,2})?$/;

export const optionalWebhookSecret = () =>
  z.string().regex(WEBHOOK_SECRET, 'expected whsec_ and 24 to 64 bytes in base64').optional().transform(emptyIsAbsent);

/** Null or empty means none. */
export const optionalFolder = () =>
  z
    .string()
    .nullable()
    .default(null)
    .transform(folder => folder || null);

export const webAddress = () => z.string().refine(isWebAddress, WEB_ADDRESS);
export const optionalWebAddress = () =>
  z
    .string()
    .refine(text => text === '' || isWebAddress(text), WEB_ADDRESS)
    .optional()
    .transform(emptyIsAbsent);

export const optionalRedisAddress = () =>
  z
    .string()
    .refine(text => text === '' || hasProtocol(text, ['redis:', 'rediss:']), 'expected a redis:// or rediss:// address')
    .optional()
    .transform(emptyIsAbsent);

const SIZE = /^(\d+(?:\.\d+)?) ?(b|kb|mb|gb)$/i;
const UNITS = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 };

const SIZE_EXPECTED = 'expected a number of bytes, or text like 512kb or 10mb';

/** A size in bytes, or text such as `512kb` or `10mb`. */
export const size = () =>
  z
    .union([whole(1), z.string().regex(SIZE, SIZE_EXPECTED)], { error: SIZE_EXPECTED })
    .transform(toBytes)
    .refine(bytes => bytes >= 1, 'expected at least 1 byte');

function toBytes(value: number | string): number {
  if (typeof value === 'number') return value;
  const [, amount, unit] = SIZE.exec(value) ?? [];
  return Math.floor(Number(amount) * UNITS[(unit ?? '').toLowerCase() as keyof typeof UNITS]);
}

const WEB_ADDRESS = 'expected an http:// or https:// address without user name and password';

function isWebAddress(text: string): boolean {
  return hasProtocol(text, ['http:', 'https:']) && new URL(text).username === '' && new URL(text).password === '';
}

function hasProtocol(text: string, protocols: readonly string[]): boolean {
  return URL.canParse(text) && protocols.includes(new URL(text).protocol);
}

function emptyIsAbsent(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}
