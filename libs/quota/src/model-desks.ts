import { ModelDesk } from './model-desk';
import type { Entry } from './permits';
import type { TermsBook } from './terms';
import type { Wait } from './wait-list';

/** Where a wait stands, and what it may expect. */
type Prospect = Pick<Extract<Entry, { kind: 'queued' }>, 'ahead' | 'estimateMs' | 'freeInMs'>;

/** The desks of all models, and what they say together about a wait that can have several. */
export class ModelDesks {
  private readonly desks = new Map<string, ModelDesk>();

  constructor(private readonly terms: TermsBook) {}

  of(name: string): ModelDesk {
    const known = this.desks.get(name);
    if (known !== undefined) return known;
    const desk = new ModelDesk(name, model => this.terms.of(model));
    this.desks.set(name, desk);
    return desk;
  }

  /** Callers may name models without end; only what is limited is worth remembering when nobody uses it. */
  forgetUnused({ name, forgettable }: ModelDesk): void {
    if (forgettable) this.desks.delete(name);
  }

  /** The names of those that somebody waits for, in their order. */
  waitedFor(): readonly string[] {
    const waitedFor = [...this.desks].filter(([, { waits }]) => waits.first() !== undefined);
    return waitedFor.map(([name]) => name).sort();
  }

  inflight(): Record<string, number> {
    const total = ({ use }: ModelDesk): number => use.inflight.reduce((sum, one) => sum + one, 0);
    return Object.fromEntries([...this.desks].map(([name, desk]) => [name, total(desk)]));
  }

  join(wait: Wait, now: number): void {
    for (const name of wait.models) {
      const { waits, use } = this.of(name);
      waits.add(wait);
      use.startWaiting(now);
    }
  }

  reach(wait: Wait): void {
    for (const name of wait.models) this.of(name).reached.add(wait);
  }

  leave(wait: Wait): void {
    for (const name of wait.models) {
      const { waits, reached } = this.of(name);
      waits.remove(wait);
      reached.remove(wait);
    }
  }

  /** A wait that can have several models gets the first of its chain, in whatever order they are asked. */
  preferred(wait: Wait, desk: ModelDesk, now: number): ModelDesk {
    const first = wait.models.find(name => name === desk.name || this.of(name).next(now).wait === wait);
    return this.of(first ?? desk.name);
  }

  prospect(wait: Wait, now: number): Prospect {
    const ahead = Math.max(...wait.models.map(name => this.of(name).waits.ahead(wait)));
    const { likely, surely } = this.freeIn(wait, now);
    const rate = this.rateOf(wait.models);
    const estimateMs = rate > 0 ? Math.max(surely, Math.ceil(ahead / rate)) : surely > 0 ? surely : null;
    return { ahead, estimateMs, freeInMs: likely };
  }

  /** Milliseconds until the next of those that wait may have gone; a second where nothing is known. */
  nextGoesInMs(wait: Wait, now: number): number {
    const rate = this.rateOf(wait.models);
    return Math.max(this.freeIn(wait, now).likely, rate > 0 ? Math.ceil(1 / rate) : 1000);
  }

  /** Milliseconds until the first model of its chain may admit a call, and can at the earliest, as `ModelDesk.freeIn`. */
  private freeIn(wait: Wait, now: number): { readonly likely: number; readonly surely: number } {
    const times = wait.models.map(name => this.of(name).freeIn(wait, now));
    const least = (read: (time: (typeof times)[number]) => number): number => Math.min(...times.map(read));
    return { likely: least(({ likely }) => likely), surely: least(({ surely }) => surely) };
  }

  private rateOf(names: readonly string[]): number {
    return names.reduce((rate, name) => rate + this.of(name).use.rate, 0);
  }
}
