const REDACTED = '[redacted]';

/** Shorter strings are placeholders such as `none`; replacing them would only garble texts. */
const SHORTEST_SECRET = 6;

/** What looks like a credential wherever it stands; the first group, if any, stays. */
const PATTERNS: readonly RegExp[] = [
  /(\bBearer\s+)[^\s"'<>,;]+/gi,
  /(\b(?:api[-_]?key|access[-_]?token|secret|password)["']?\s*[=:]\s*["']?)[^\s"'&<>,;]{6,}/gi,
  /(\b(?:key|token|auth|code|sig|signature)=)[^\s"'&<>,;]{6,}/gi,
  /()(?<![A-Za-z0-9])(?:sk|pk|rk|gsk|xai|hf|r8|ark)[-_][A-Za-z0-9_-]{6,}(?:\*+[A-Za-z0-9]*)?/g,
  /()\bAIza[A-Za-z0-9_-]{8,}/g,
];

/** A text without the given secrets and without anything that looks like a key. */
export function clearSecrets(text: string, secrets: readonly (string | undefined)[]): string {
  let clear = text;
  for (const secret of secrets) {
    if (secret !== undefined && secret.length >= SHORTEST_SECRET) clear = clear.replaceAll(secret, REDACTED);
  }
  for (const pattern of PATTERNS) clear = clear.replace(pattern, `$1${REDACTED}`);
  return clear;
}
