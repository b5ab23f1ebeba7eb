import type { CallIdentity, Clock, IncomingCall } from '@spillway/contracts';
import { explanationOf, factsOf, type CallFacts, type Explanation } from './explanation';
import { Recent } from './recent';

/** Bytes of one call with its journal, roughly; its decisions come on top. */
const CALL_BYTES = 1_500;
const DECISION_BYTES = 250;

interface Ended extends CallIdentity {
  readonly durationMs: number;
  readonly facts: CallFacts;
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
  private readonly underWay = new Map<CallIdentity, IncomingCall>();
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
    this.underWay.set(call, call);
  }

  ended(call: CallIdentity, facts: CallFacts, durationMs: number): void {
    this.underWay.delete(call);
    const outcome = facts.end?.outcome;
    const isCached = outcome === 'cache-exact' || outcome === 'cache-semantic';
    // Not the call itself, which may hold its body.
    const { id, traceId, receivedAt } = call;
    (isCached ? this.cached : this.others).add({ id, traceId, receivedAt, durationMs, facts });
  }

  /** The latest call with this request id; null: not known here, or no more. */
  find(requestId: string): Explanation | null {
    const isIt = ({ id }: CallIdentity): boolean => id === requestId;
    for (const call of this.underWay.values()) {
      if (isIt(call)) return explanationOf(call, factsOf(call, null), this.clock.now() - call.receivedAt);
    }
    const found = [this.others.find(isIt), this.cached.find(isIt)].filter(ended => ended !== undefined);
    const [latest] = found.sort((one, other) => other.receivedAt - one.receivedAt);
    return latest === undefined ? null : explanationOf(latest, latest.facts, latest.durationMs);
  }
}

function bytesOf({ facts }: Ended): number {
  return CALL_BYTES + DECISION_BYTES * facts.journal.decisions.length;
}
