/** Which answers are cleared: those of a route, of a scope, of a scope within a route, or all. */
export interface Clearing {
  readonly route?: string | undefined;
  readonly scope?: string | undefined;
}

/** Clearings that are remembered one by one; one more clears everything, so that memory stays bounded. */
export const MOST_CLEARINGS = 10_000;

/** What was cleared, and when last. Sequence numbers grow over all clearings, so the newest that applies counts. */
export class ClearingLog {
  private readonly sequences = new Map<string, number>();

  get isFull(): boolean {
    return this.sequences.size >= MOST_CLEARINGS;
  }

  /** Notes a clearing, in any order and as often as it is heard of. */
  add(name: string, sequence: number): void {
    if (sequence <= Math.max(this.lastOf(name), this.lastOf(EVERYTHING))) return;
    this.sequences.set(name, sequence);
    if (name === EVERYTHING) this.forgetBefore(sequence);
  }

  /** The newest clearing that applies; 0: none. */
  generation(route: string, scope: string): number {
    if (this.sequences.size === 0) return 0;
    return Math.max(
      this.lastOf(EVERYTHING),
      this.lastOf(nameOf({ route })),
      this.lastOf(nameOf({ scope })),
      this.lastOf(nameOf({ route, scope })),
    );
  }

  private lastOf(name: string): number {
    return this.sequences.get(name) ?? 0;
  }

  private forgetBefore(sequence: number): void {
    for (const [name, last] of this.sequences) {
      if (last < sequence) this.sequences.delete(name);
    }
  }
}

/** The same text for the same clearing, and for no other. */
export function nameOf({ route, scope }: Clearing): string {
  return JSON.stringify([route ?? null, scope ?? null]);
}

const EVERYTHING = nameOf({});
