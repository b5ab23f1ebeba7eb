/** What a caller prefers to an answer that does not come at once (RFC 7240). */
export interface AsyncPreference {
  /** Milliseconds that it waits for the answer before; null: it does not wait. */
  readonly waitMs: number | null;
}

/**
 * Reads the header `Prefer`; null: the caller wants no job. Preferences that are unknown or make no sense are passed
 * over, as the standard has it.
 */
export function asyncPreference(prefer: string | undefined): AsyncPreference | null {
  if (prefer === undefined) return null;
  const preferences = prefer.split(',').map(preference => preference.split(';', 1)[0]?.trim().toLowerCase() ?? '');
  if (!preferences.includes('respond-async')) return null;
  const [wait] = preferences.flatMap(preference => /^wait\s*=\s*"?(\d{1,9})"?$/.exec(preference)?.[1] ?? []);
  return { waitMs: wait === undefined || Number(wait) === 0 ? null : Number(wait) * 1000 };
}
