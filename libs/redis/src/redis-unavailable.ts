/**
 * Redis cannot be used right now: lost, too slow, or refusing writes. Carries a short reason and no cause, because the
 * errors of the client can hold addresses and passwords.
 */
export class RedisUnavailable extends Error {
  readonly code = 'redis_unavailable';

  constructor(readonly reason: string) {
    super(`Redis is unavailable (${reason}).`);
    this.name = 'RedisUnavailable';
  }
}

/** Replies by which a server says that it cannot serve now, whatever is asked. */
const UNUSABLE = new Set([
  'OOM',
  'READONLY',
  'LOADING',
  'MISCONF',
  'BUSY',
  'MASTERDOWN',
  'NOREPLICAS',
  'CLUSTERDOWN',
  'NOAUTH',
  'WRONGPASS',
  'NOPERM',
]);

function firstWord(message: string): string {
  return /^[A-Z]+/.exec(message)?.[0] ?? '';
}

/** Why an error says that Redis is lost, as opposed to a mistake in what was asked; null: a mistake. */
export function reasonOfLoss(error: unknown): string | null {
  if (error instanceof RedisUnavailable) return error.reason;
  const { name, message, code, syscall } = Object(error) as Readonly<Record<string, unknown>>;
  const said = String(message);
  if (name === 'ReplyError') {
    // A script reports the error of a command it called somewhere inside its own message.
    return [firstWord(said), ...(said.match(/\b[A-Z]{3,}\b/g) ?? [])].find(word => UNUSABLE.has(word)) ?? null;
  }
  if (name === 'MaxRetriesPerRequestError' || name === 'AbortError') return 'disconnected';
  if (/Connection is closed|isn't writeable|Command timed out/.test(said)) return 'disconnected';
  return typeof code === 'string' && syscall !== undefined ? code : null;
}
