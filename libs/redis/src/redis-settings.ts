/** Where Redis is; the URL may hold a password and never appears in errors. */
export interface RedisSettings {
  readonly url: string;
  /** Starts every key and channel of this installation. */
  readonly prefix: string;
  /** How long a use of Redis waits for a sign of life, in milliseconds. */
  readonly timeoutMs?: number;
}
