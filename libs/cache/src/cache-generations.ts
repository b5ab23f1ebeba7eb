import { ClearingLog, nameOf, type Clearing } from './clearing-log';

/** Clears by renaming: the generation is part of every key, so that answers of an earlier one are never found again. */
export abstract class CacheGenerations {
  abstract current(route: string, scope: string): string;

  /** From now on nothing that was kept, or is still being made, before is found. */
  abstract clear(what: Clearing): Promise<void>;
}

/** The generations of a process on its own. */
export class MemoryGenerations extends CacheGenerations {
  private readonly log = new ClearingLog();
  private clearings = 0;

  current(route: string, scope: string): string {
    return String(this.log.generation(route, scope));
  }

  async clear(what: Clearing): Promise<void> {
    this.log.add(this.log.isFull ? nameOf({}) : nameOf(what), ++this.clearings);
  }
}
