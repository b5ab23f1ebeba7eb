import type { HelperGuard, HelperState } from './helper-guard';

/** The helpers outside of this process that the semantic cache leans on, and whether each is there. */
export class CacheHelpers {
  private readonly guards: readonly HelperGuard[];

  /** @param guards null stands for a helper in this process, which cannot be lost */
  constructor(guards: readonly (HelperGuard | null)[]) {
    this.guards = guards.filter(guard => guard !== null);
  }

  states(): Readonly<Record<string, HelperState>> {
    return Object.fromEntries(this.guards.map(({ name, state }) => [name, state]));
  }
}
