import { PRIORITIES, type Priority } from '@spillway/contracts';

/** One value for each class, made from its rank. */
export function byPriority<T>(make: (rank: number) => T): Readonly<Record<Priority, T>> {
  return Object.fromEntries(PRIORITIES.map((priority, rank) => [priority, make(rank)])) as Record<Priority, T>;
}
