import type { Priority } from '@spillway/contracts';
import type { ClientCall } from './load';
import { FRAIL, INFLIGHT, type Scene } from './scene';

/** CRITICAL that must be answered, of the calls that were not in a killed process. */
const CRITICAL_SUCCESS = 0.999;
/** The longest that a call of a frail model can last, with some for a busy machine, ms. */
const LONGEST_CALL_MS = 2_500;
/** The end of a call that was broken off is seen by the gateway before the model sees it, ms. */
const UNSEEN_END_MS = 100;
/** Until what a process has logged is read here, ms. */
const LINES_LATE_MS = 1_000;
/** A connection that breaks as soon was broken by the model before it began to answer, ms. */
const BROKEN_WITHIN_MS = 1_000;
const OUTCOMES_OF_SUCCESS = ['generated', 'fallback-model'];

type Upstream = ReturnType<Scene['upstreamCalls']>[number];

/** What a run has seen: calls from their clients' side and from the models' side, and what the gateways logged. */
export interface Evidence {
  readonly calls: readonly ClientCall[];
  readonly upstream: readonly Upstream[];
  readonly lines: readonly Record<string, unknown>[];
  /** When each gateway was killed or stood still, milliseconds since the epoch. */
  readonly gatewayTrouble: readonly [readonly Span[], readonly Span[]];
  readonly wipes: readonly number[];
  readonly lonelyStarts: number;
}

export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Everything that was promised and not kept, in words. */
export function brokenPromises(evidence: Evidence): string[] {
  return [
    ...unanswered(evidence),
    ...notOnceInTheLog(evidence),
    ...doubled(evidence),
    ...tooManyAtOnce(evidence),
    ...criticalLost(evidence),
  ];
}

function unanswered({ calls, gatewayTrouble }: Evidence): string[] {
  return calls.flatMap(call => {
    const { marker, end } = call;
    const disturbed = gatewayTrouble[call.gateway].some(span => overlap(span, call));
    switch (end.kind) {
      case 'left':
        return [];
      case 'broken':
        return disturbed ? [] : [`${marker}: its connection broke`];
      case 'gave-up':
        return [`${marker}: no answer came`];
      case 'answered': {
        if (end.headers.get('x-spillway-outcome') === null) return [`${marker}: an answer without an outcome`];
        return end.status !== 200 || end.isWhole || disturbed ? [] : [`${marker}: its answer is not whole`];
      }
      default:
        return end satisfies never;
    }
  });
}

function notOnceInTheLog({ calls, lines, gatewayTrouble }: Evidence): string[] {
  const linesOf = groupBy(lines, line => String(line['request_id']));
  return calls.flatMap(call => {
    const { marker, end } = call;
    const outcomes = (linesOf.get(marker) ?? []).map(line => String(line['outcome']));
    if (outcomes.length > 1) return [`${marker}: ended ${outcomes.length} times (${outcomes.join()})`];
    if (end.kind !== 'answered' || end.status !== 200) return [];
    // Who is killed takes its last lines along.
    if (gatewayTrouble[call.gateway].some(span => overlap(span, { ...call, endedAt: call.endedAt + LINES_LATE_MS })))
      return [];
    const told = end.headers.get('x-spillway-outcome');
    // A stream's header was sent before its end.
    if (outcomes[0] === 'upstream-failed') return [];
    return outcomes[0] === told ? [] : [`${marker}: told as ${told}, logged as ${outcomes[0]}`];
  });
}

function doubled({ calls, upstream }: Evidence): string[] {
  const askedFor = groupBy(upstream, ({ marker }) => marker);
  return calls.flatMap(({ marker, end }) => {
    const asked = askedFor.get(marker) ?? [];
    const models = asked.filter((one, index) => !isSentAgain(asked[index - 1], one)).map(({ model }) => model);
    if (new Set(models).size < models.length)
      return [`${marker}: asked a model twice (${asked.map(courseOf).join('; ')})`];
    if (end.kind !== 'answered') return [];
    const told = end.headers.get('x-spillway-attempts');
    return String(models.length) === told ? [] : [`${marker}: ${models.length} calls of models, ${told} told`];
  });
}

function courseOf({ model, at, closed_at: closedAt, status }: Upstream): string {
  return `${model} at ${at} for ${closedAt === null ? '?' : closedAt - at} ms: ${status ?? 'no answer'}`;
}

/** A request that meets a socket which its server has just closed is sent once more. */
function isSentAgain(before: Upstream | undefined, { model }: Upstream): boolean {
  if (before === undefined || before.model !== model || before.status !== null) return false;
  return (before.closed_at ?? Infinity) - before.at < BROKEN_WITHIN_MS;
}

/**
 * Calls that all processes together admitted keep within the limit, but for those that were under way when Redis lost
 * its data. Those that processes admitted by themselves do so too; one that began while Redis was away knows no other.
 */
function tooManyAtOnce(evidence: Evidence): string[] {
  return FRAIL.flatMap(model => {
    const shared = peakOf(spansOf(evidence, model, 'shared').filter(span => !beganBeforeWipe(evidence, span)));
    const local = peakOf(spansOf(evidence, model, 'local'));
    const alone = INFLIGHT * (1 + evidence.lonelyStarts);
    return [
      ...(shared > INFLIGHT ? [`${model}: ${shared} at once by the limits of all`] : []),
      ...(local > alone ? [`${model}: ${local} at once by the limits of single processes`] : []),
    ];
  });
}

/** Only the last attempt of a call is known to have been admitted as its answer says. */
function spansOf({ calls, upstream }: Evidence, model: string, kind: 'shared' | 'local'): Span[] {
  const lastOf = new Map(upstream.map(asked => [asked.marker, asked]));
  return calls.flatMap(({ marker, end }) => {
    const asked = lastOf.get(marker);
    if (end.kind !== 'answered' || asked?.model !== model) return [];
    const isLocal = end.headers.get('x-spillway-limits') === 'local';
    if (isLocal !== (kind === 'local')) return [];
    const closedAt = asked.closed_at ?? Date.now();
    return [{ from: asked.at, to: asked.finished ? closedAt : Math.max(asked.at, closedAt - UNSEEN_END_MS) }];
  });
}

function beganBeforeWipe({ wipes }: Evidence, { from }: Span): boolean {
  return wipes.some(at => from <= at && from > at - LONGEST_CALL_MS);
}

function peakOf(spans: readonly Span[]): number {
  const changes = spans.flatMap(({ from, to }) => [
    { at: from, by: 1 },
    { at: to, by: -1 },
  ]);
  let now = 0;
  let peak = 0;
  // Who ends at the moment at which another begins has made room for it.
  for (const { by } of changes.toSorted((one, other) => one.at - other.at || one.by - other.by)) {
    now += by;
    peak = Math.max(peak, now);
  }
  return peak;
}

function criticalLost({ calls }: Evidence): string[] {
  const counted = calls.filter(
    ({ priority, end }) => isCritical(priority) && end.kind !== 'left' && end.kind !== 'broken',
  );
  const lost = counted.filter(call => !succeeded(call));
  if (counted.length - lost.length >= CRITICAL_SUCCESS * counted.length) return [];
  return [`CRITICAL: ${lost.length} of ${counted.length} lost: ${lost.map(told).join('; ')}`];
}

function isCritical(priority: Priority): boolean {
  return priority === 'critical';
}

/** Whether a call was answered by a model. */
export function succeeded({ end }: ClientCall): boolean {
  return end.kind === 'answered' && OUTCOMES_OF_SUCCESS.includes(end.headers.get('x-spillway-outcome') ?? '');
}

function told({ marker, end }: ClientCall): string {
  if (end.kind !== 'answered') return `${marker} ${end.kind}`;
  return `${marker} ${end.status} ${end.headers.get('x-spillway-outcome')}`;
}

function overlap(span: Span, { startedAt, endedAt }: ClientCall): boolean {
  return span.from <= endedAt && span.to >= startedAt;
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}
