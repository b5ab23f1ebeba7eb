/** What one process has used by itself, of one model and class at one time. */
export interface AloneUse {
  /** Of a call that is under way; null: all of these calls have ended. */
  readonly ticket: string | null;
  readonly model: string;
  readonly rank: number;
  readonly calls: number;
  readonly tokens: number;
  /** Milliseconds since the epoch; of calls that have ended the second in which they began, rather later than earlier. */
  readonly at: number;
}

interface Open {
  readonly use: AloneUse;
  told: boolean;
}

const SECOND_MS = 1_000;
/** The longest window of a limit. */
const LONGEST_MS = 86_400_000;

/**
 * What this process has admitted while it was alone, until those who share its limits are told. A call that they are told
 * of while it is under way is theirs to end.
 */
export class AloneBook {
  private readonly open = new Map<string, Open>();
  /** By model, class and second. */
  private readonly ended = new Map<string, AloneUse>();

  began(ticket: string, call: Pick<AloneUse, 'model' | 'rank' | 'tokens' | 'at'>): void {
    this.open.set(ticket, { use: { ...call, ticket, calls: 1 }, told: false });
  }

  rebook(ticket: string, tokens: number): void {
    const known = this.open.get(ticket);
    if (known !== undefined) this.open.set(ticket, { ...known, use: { ...known.use, tokens } });
  }

  /** `used`: tokens; null: not known. */
  end(ticket: string, used: number | null): void {
    const known = this.open.get(ticket);
    if (this.open.delete(ticket) && known?.told === false)
      this.count({ ...known.use, tokens: used ?? known.use.tokens });
  }

  /** The call was never made. */
  cancel(ticket: string): void {
    this.open.delete(ticket);
  }

  isTold(ticket: string): boolean {
    return this.open.get(ticket)?.told === true;
  }

  /** What nobody was told of; now they are. */
  take(now: number): readonly AloneUse[] {
    const untold = [...this.open.values()].filter(({ told }) => !told);
    for (const call of untold) call.told = true;
    const ended = [...this.ended.values()].filter(({ at }) => at > now - LONGEST_MS);
    this.ended.clear();
    return [...untold.map(({ use }) => use), ...ended];
  }

  /** They were not told after all. */
  giveBack(uses: readonly AloneUse[]): void {
    for (const use of uses) {
      const call = use.ticket === null ? undefined : this.open.get(use.ticket);
      if (call !== undefined) call.told = false;
      else this.count(use);
    }
  }

  private count(use: AloneUse): void {
    const at = Math.ceil(use.at / SECOND_MS) * SECOND_MS;
    const key = `${at} ${use.rank} ${use.model}`;
    const { calls, tokens } = this.ended.get(key) ?? { calls: 0, tokens: 0 };
    this.ended.set(key, { ...use, ticket: null, at, calls: calls + use.calls, tokens: tokens + use.tokens });
  }
}
