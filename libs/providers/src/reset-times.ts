const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** The longest window of a provider is a month; what is further away is rubbish. */
const LONGEST_MS = 32 * DAY;

/** Numbers from here on are times, not spans: seconds since the epoch (2001), or milliseconds. */
const EPOCH_SECONDS = 1e9;
const EPOCH_MILLISECONDS = 1e12;

const NUMBER = /^\d+(?:\.\d+)?$/;
const SPAN =
  /^(?:(\d+(?:\.\d+)?)d)?(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?$/;
const SPAN_UNITS = [DAY, HOUR, MINUTE, SECOND, 1] as const;
const TIMESTAMP = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;
const HTTP_DATE = /^[A-Z][a-z]+, \d\d[ -][A-Z][a-z]{2}[ -]\d{2,4} \d\d:\d\d:\d\d GMT$/;

/**
 * Milliseconds from `now` until a reset that a header names, in any of the forms providers use: seconds, spans such as
 * `6m0s` or `17ms`, HTTP dates, RFC 3339, seconds or milliseconds since the epoch. Null: not understood, or in the past.
 */
export function parseReset(value: string | null | undefined, now: number): number | null {
  const text = value?.trim() ?? '';
  if (text === '') return null;
  const milliseconds = NUMBER.test(text) ? fromNumber(Number(text), now) : (fromSpan(text) ?? fromDate(text, now));
  return milliseconds !== null && milliseconds >= 0 && milliseconds <= LONGEST_MS ? milliseconds : null;
}

/** Milliseconds a `retry-after` asks for. Null also for 0: it would only invite hammering. */
export function parseRetryAfter(value: string | null | undefined, now: number): number | null {
  return parseReset(value, now) || null;
}

/** The same for `retry-after-ms`. */
export function parseRetryAfterMs(value: string | null | undefined): number | null {
  const text = value?.trim() ?? '';
  const milliseconds = NUMBER.test(text) ? Math.ceil(Number(text)) : 0;
  return milliseconds > 0 && milliseconds <= LONGEST_MS ? milliseconds : null;
}

/** Milliseconds until the time that a message names in words such as "regain access on 2026-12-01"; UTC if unsaid. */
export function findResetInText(text: string, now: number): number | null {
  const found = /(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d:\d\d(?:\.\d+)?) ?(?:Z|UTC|([+-]\d\d):?(\d\d))?)?/.exec(text);
  if (!found) return null;
  const [, day, time = '00:00:00', hours, minutes] = found;
  return parseReset(`${day}T${time}${hours === undefined ? 'Z' : `${hours}:${minutes}`}`, now) || null;
}

function fromNumber(value: number, now: number): number {
  if (value >= EPOCH_MILLISECONDS) return value - now;
  if (value >= EPOCH_SECONDS) return value * SECOND - now;
  return Math.round(value * SECOND);
}

function fromSpan(text: string): number | null {
  const parts = SPAN.exec(text);
  if (!parts) return null;
  const sum = SPAN_UNITS.reduce((total, unit, index) => total + Number(parts[index + 1] ?? 0) * unit, 0);
  return Math.round(sum);
}

function fromDate(text: string, now: number): number | null {
  if (!TIMESTAMP.test(text) && !HTTP_DATE.test(text)) return null;
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : time - now;
}
