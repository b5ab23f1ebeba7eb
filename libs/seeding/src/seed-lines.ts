/** The lines of seeds, for as long as they may be needed; blank lines keep their place. */
export abstract class SeedLines {
  /** Adds to the end of a text. @throws RedisUnavailable, as the others do */
  abstract append(id: string, lines: readonly string[]): Promise<void>;
  /** Lines from this one on (from 0), at most `count`; none after the last, or where there is no such text. */
  abstract page(id: string, from: number, count: number): Promise<readonly string[]>;
  abstract drop(id: string): Promise<void>;
}

/** Lines in the memory of this process. */
export class MemorySeedLines extends SeedLines {
  private readonly texts = new Map<string, string[]>();

  async append(id: string, lines: readonly string[]): Promise<void> {
    const known = this.texts.get(id) ?? [];
    for (const line of lines) known.push(line);
    this.texts.set(id, known);
  }

  async page(id: string, from: number, count: number): Promise<readonly string[]> {
    return this.texts.get(id)?.slice(from, from + count) ?? [];
  }

  async drop(id: string): Promise<void> {
    this.texts.delete(id);
  }
}
