import { RedisUnavailable } from './redis-unavailable';

/**
 * Rejects with RedisUnavailable when `work` has not settled after `ms`. After the timer fires, replies that have
 * already arrived are read first: a process that was busy itself must not blame Redis.
 */
export function withDeadline<T>(work: Promise<T>, ms: number): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const late = (): void => reject(new RedisUnavailable('timeout'));
    const timer = setTimeout(() => setImmediate(() => setImmediate(late)), ms);
    // One promise less than with `finally`, for every command of every call.
    work.then(
      value => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error as Error);
      },
    );
  });
}
