import type { Answer, Clock, KeyedCall, Next, Stage } from '@spillway/contracts';
import { Flight } from './flight';
import type { Neighbours } from './neighbours';

/**
 * A call that missed the cache a moment too early still finds the answer here. Lookups wait no longer for Redis than
 * this.
 */
const LINGER_MS = 250;

/** Counts how calls that may be shared fared. */
interface CoalescingMeter {
  lookup(level: 'coalesced', result: 'hit' | 'miss'): void;
}

/** The configuration as it is now. */
interface CoalescingSettings {
  readonly current: { readonly cache: { readonly coalesce: boolean; readonly max_item_bytes: number } };
}

/** Lets equal calls that are under way at the same time share one answer. */
export class CoalesceStage implements Stage<KeyedCall> {
  readonly name = 'coalesce';
  private readonly flights = new Map<string, Flight>();

  constructor(
    private readonly settings: CoalescingSettings,
    private readonly clock: Clock,
    private readonly meter: CoalescingMeter,
    /** Null: this process is alone. */
    private readonly neighbours: Pick<Neighbours, 'work'> | null = null,
  ) {}

  async handle(call: KeyedCall, next: Next<KeyedCall>): Promise<Answer> {
    if (!this.settings.current.cache.coalesce || !mayShare(call) || call.signal.aborted) return next(call);
    const answer = await this.board(call, next);
    this.meter.lookup('coalesced', answer.outcome === 'coalesced' ? 'hit' : 'miss');
    return answer;
  }

  private board(call: KeyedCall, next: Next<KeyedCall>): Promise<Answer> {
    const { neighbours } = this;
    const id = flightIdOf(call);
    const flight = this.flightFor(id, call);
    return flight.board(call, neighbours === null ? next : copy => neighbours.work(id, flight, copy, next));
  }

  private flightFor(id: string, call: KeyedCall): Flight {
    const known = this.flights.get(id);
    if (known?.admits(call)) return known;
    const flight: Flight = new Flight({
      maxCharacters: this.settings.current.cache.max_item_bytes,
      clock: this.clock,
      landed: end => {
        if (end === 'closed') this.forget(id, flight);
        else setTimeout(() => this.forget(id, flight), LINGER_MS).unref();
      },
    });
    this.flights.set(id, flight);
    return flight;
  }

  private forget(id: string, flight: Flight): void {
    if (this.flights.get(id) === flight) this.flights.delete(id);
  }
}

/** Only what may be read from the exact cache and kept there is shared before it is there. */
function mayShare({ cacheKey, route, controls }: KeyedCall): boolean {
  const { cacheRead, cacheWrite, cacheLevel, cacheTtlS } = controls;
  const isKept = (cacheTtlS ?? route.cache.ttl_s) > 0;
  return cacheKey !== null && route.cache.exact && cacheLevel !== 'off' && cacheRead && cacheWrite && isKept;
}

/** Equal calls that would ask the same models: what fails one chain may be no trouble for another. */
function flightIdOf({ cacheKey, models }: KeyedCall): string {
  return JSON.stringify([cacheKey, ...models.map(({ name }) => name)]);
}
