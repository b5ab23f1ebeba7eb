/** How a model that is new to its provider starts. */
export interface WarmUpSettings {
  /** Share of the limits that it has at first. */
  readonly factor: number;
  readonly hours: number;
}

const HOUR_MS = 3_600_000;

/** The share of its limits that a model has now; `firstUsedAt` null: it was never used. */
export function warmUpFactor(settings: WarmUpSettings | undefined, firstUsedAt: number | null, now: number): number {
  if (settings === undefined) return 1;
  return firstUsedAt === null || now - firstUsedAt < settings.hours * HOUR_MS ? settings.factor : 1;
}
