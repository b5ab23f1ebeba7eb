import { PRIORITIES, rankOf, type JsonValue, type Priority } from '@spillway/contracts';
import { Backlog, type BacklogCounts, type Entry, type EntryState, type Taken, type Taker } from './backlog';

interface Held {
  readonly entry: Entry;
  state: EntryState['state'];
  attempts: number;
  progress: JsonValue | null;
  timer: NodeJS.Timeout | undefined;
}

/** More dead letters are not kept. */
const MOST_DEAD = 1_000;
/** What a timer can wait, ms: 25 days. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Jobs in the memory of this process: they end with it. */
export class MemoryBacklog extends Backlog {
  private readonly held = new Map<string, Held>();
  private readonly lines: Readonly<Record<Priority, Held[]>> = { critical: [], normal: [], low: [] };
  private readonly running = new Set<Promise<void>>();
  private taker: Taker | null = null;

  /** @param deadTtlS seconds that dead letters are kept */
  constructor(private readonly deadTtlS: () => number) {
    super();
  }

  async add(entry: Entry): Promise<void> {
    if (this.held.has(entry.id)) return;
    const held: Held = { entry, state: 'queued', attempts: 0, progress: null, timer: undefined };
    this.held.set(entry.id, held);
    this.enqueue(held);
  }

  async find(id: string): Promise<EntryState | null> {
    const held = this.held.get(id);
    return held === undefined ? null : stateOf(held);
  }

  async withdraw(id: string): Promise<void> {
    const held = this.held.get(id);
    if (held === undefined) return;
    if (held.state === 'running') this.taker?.interrupt(id);
    else this.drop(held);
  }

  async dead(most: number): Promise<readonly EntryState[]> {
    return this.letters().slice(-most).reverse().map(stateOf);
  }

  async revive(id: string): Promise<boolean> {
    const held = this.held.get(id);
    if (held?.state !== 'failed') return false;
    clearTimeout(held.timer);
    held.state = 'queued';
    held.attempts = 0;
    this.enqueue(held);
    return true;
  }

  async counts(): Promise<BacklogCounts> {
    const counts = { queued: 0, running: 0, failed: 0 };
    for (const { state } of this.held.values()) counts[state] += 1;
    return counts;
  }

  async open(most: number): Promise<readonly EntryState[]> {
    const all = [...this.held.values()];
    const running = all.filter(({ state }) => state === 'running');
    const waiting = all
      .filter(({ state }) => state === 'queued')
      .sort((one, other) => rankOf(one.entry.priority) - rankOf(other.entry.priority));
    return [...running, ...waiting].slice(0, most).map(stateOf);
  }

  take(taker: Taker): void {
    this.taker = taker;
    this.pump();
  }

  async stop(): Promise<void> {
    this.taker = null;
    for (const { timer } of this.held.values()) clearTimeout(timer);
    await Promise.all(this.running);
  }

  private enqueue(held: Held): void {
    this.lines[held.entry.priority].push(held);
    this.pump();
  }

  private drop(held: Held): void {
    clearTimeout(held.timer);
    this.held.delete(held.entry.id);
  }

  /** The newest come last. */
  private letters(): Held[] {
    return [...this.held.values()].filter(({ state }) => state === 'failed');
  }

  private bury(held: Held): void {
    this.held.delete(held.entry.id);
    this.held.set(held.entry.id, held);
    held.state = 'failed';
    held.timer = setTimeout(() => this.drop(held), Math.min(this.deadTtlS() * 1000, LONGEST_TIMER_MS)).unref();
    const [oldest, ...others] = this.letters();
    if (oldest !== undefined && others.length >= MOST_DEAD) this.drop(oldest);
  }

  private pump(): void {
    while (this.taker !== null && this.running.size < this.taker.concurrency) {
      const held = this.next();
      if (held === undefined) return;
      const run: Promise<void> = this.run(held, this.taker).finally(() => {
        this.running.delete(run);
        this.pump();
      });
      this.running.add(run);
    }
  }

  private next(): Held | undefined {
    for (const priority of PRIORITIES) {
      for (let held = this.lines[priority].shift(); held !== undefined; held = this.lines[priority].shift()) {
        // One that was withdrawn is still in its line.
        if (this.held.get(held.entry.id) === held) return held;
      }
    }
    return undefined;
  }

  private async run(held: Held, taker: Taker): Promise<void> {
    held.state = 'running';
    const verdict = await taker.run(takenOf(held));
    switch (verdict.kind) {
      case 'done':
        return this.drop(held);
      case 'dead':
        held.attempts += 1;
        return this.bury(held);
      case 'again':
        if (verdict.counted) held.attempts += 1;
        held.state = 'queued';
        held.timer = setTimeout(() => this.enqueue(held), verdict.inMs).unref();
        return;
      case 'back':
        held.state = 'queued';
        return this.enqueue(held);
      default:
        verdict satisfies never;
    }
  }
}

function stateOf({ entry, state, attempts, progress }: Held): EntryState {
  return { entry, state, attempts, progress };
}

function takenOf(held: Held): Taken {
  return {
    entry: held.entry,
    attempt: held.attempts + 1,
    deaths: 0,
    progress: held.progress,
    checkpoint: async progress => {
      held.progress = progress;
    },
  };
}
