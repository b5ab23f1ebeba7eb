/** The three classes of a call, most important first. */
export const PRIORITIES = ['critical', 'normal', 'low'] as const;
export type Priority = (typeof PRIORITIES)[number];

/** 0 for the most important class. */
export function rankOf(priority: Priority): number {
  return PRIORITIES.indexOf(priority);
}

/** The less important of two classes. */
export function lowerOf(one: Priority, other: Priority): Priority {
  return rankOf(one) >= rankOf(other) ? one : other;
}

export function isPriority(value: unknown): value is Priority {
  return PRIORITIES.includes(value as Priority);
}
