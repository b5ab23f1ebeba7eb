/**
 * Notes how far something has come, often enough for those who look and rarely enough for where it is kept. What was
 * noted late or not at all is done again after a death, and found done.
 */
export class Checkpoints<Progress> {
  private latest: Progress | null = null;
  private writing: Promise<void> | null = null;

  constructor(
    private readonly write: (progress: Progress) => Promise<void>,
    private readonly everyMs: number,
  ) {}

  note(progress: Progress): void {
    this.latest = progress;
    this.writing ??= this.writeLatest().finally(() => {
      this.writing = null;
    });
  }

  private async writeLatest(): Promise<void> {
    await new Promise(resolve => setTimeout(resolve, this.everyMs).unref());
    const { latest } = this;
    // A lost one is made up for by the next.
    if (latest !== null) await this.write(latest).catch(() => undefined);
  }

  /** The last word. */
  async end(): Promise<void> {
    await this.writing;
    if (this.latest !== null) await this.write(this.latest).catch(() => undefined);
  }
}
