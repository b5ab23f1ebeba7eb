import type { Clock, IncomingCall } from '@spillway/contracts';
import { explanationOf, type CallEnd, type CallFacts, type Explanation } from './explanation';
import { Recent } from './recent';

/** Bytes of one call with its journal, roughly; its decisions come on top. */
const CALL_BYTES = 1_500;
const DECISION_BYTES = 250;

interface Ended {
  readonly call: CallFacts;
  readonly end: CallEnd;
}

interface Bounds {
  /** Calls of either kind at most. */
  readonly entries: number;
  /** Bytes of either kind at most. */
  readonly bytes: number;
}

/**
 * The calls of this process: those under way, and the last that have ended. Calls that a cache answered are kept apart,
 * because they come by the thousand and would push out the others, which are the ones that somebody asks about. A call
 * costs an object and a few stores; everything else is done when somebody asks.
 */
export class Explanations {
  private readonly underWay = new Set<IncomingCall>();
  private readonly cached: Recent<Ended>;
  private readonly others: Recent<Ended>;

  constructor(
    bounds: Bounds,
    private readonly clock: Clock,
  ) {
    this.cached = new Recent(bounds.entries, bounds.bytes, bytesOf);
    this.others = new Recent(bounds.entries, bounds.bytes, bytesOf);
  }

  began(call: IncomingCall): void {
    this.underWay.add(call);
  }

  ended(call: IncomingCall, end: CallEnd): void {
    this.underWay.delete(call);
    const isCached = end.outcome === 'cache-exact' || end.outcome === 'cache-semantic';
    (isCached ? this.cached : this.others).add({ call: factsOf(call), end });
  }

  /** The latest call with this request id; null: not known here, or no more. */
  find(requestId: string): Explanation | null {
    const isIt = ({ call }: Ended): boolean => call.id === requestId;
    const now = this.clock.now();
    for (const call of this.underWay) if (call.id === requestId) return explanationOf(factsOf(call), null, now);
    const found = [this.others.find(isIt), this.cached.find(isIt)].filter(ended => ended !== undefined);
    const [latest] = found.sort((one, other) => other.call.receivedAt - one.call.receivedAt);
    return latest === undefined ? null : explanationOf(latest.call, latest.end, now);
  }
}

/** Not the call itself, which holds its body. */
function factsOf({ id, traceId, operation, streaming, receivedAt, journal, caller }: IncomingCall): CallFacts {
  return { id, traceId, operation, streaming, receivedAt, journal, key: caller.name };
}

function bytesOf({ call }: Ended): number {
  return CALL_BYTES + DECISION_BYTES * call.journal.decisions.length;
}
