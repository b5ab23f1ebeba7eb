import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import {
  NotCached,
  RefusedByModel,
  ShuttingDown,
  SpillwayError,
  type Caller,
  type Errand,
  type ErrandEnd,
  type Errands,
  type JsonObject,
  type RouteSettings,
} from '@spillway/contracts';
import type { Seed } from './seed-line';
import type { LineEnd } from './seed-progress';

/** The configuration as it is now. */
interface Routes {
  readonly current: { target(name: string): RouteSettings | undefined };
}

/** What finds a question in other words. */
interface Questions {
  /** Makes ready to keep one; false: that failed just now. */
  prepare(request: JsonObject, route: RouteSettings): Promise<boolean>;
}

/** What stops the planting of a seed. */
export interface Stops {
  /** At once. */
  readonly signal: AbortSignal;
  /** Between two calls; aborted with `signal` as well. */
  readonly pausing: AbortSignal;
}

/** Calls for one seed at most. */
const MOST_TRIES = 6;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** An answer is kept a moment after it has been read. */
const KEPT_WITHIN_MS = 100;
/** A seed waits for its turn as long as any call may, and has no deadline. */
const PATIENT = { 'x-spillway-max-wait-ms': '600000', 'x-spillway-deadline-ms': '0' };
/** Whether exactly this request has an answer. */
const LOOK = { 'x-spillway-cache': 'exact', 'cache-control': 'only-if-cached' };
/** Similar questions have answers of their own once they are seeds. */
const FRESH = { 'cache-control': 'no-cache' };

type Try = { readonly end: LineEnd } | { readonly retryInMs: number | null; readonly reason: string };

/** Sees to it that a question has its answer in the caches of a caller, by the path that calls take. */
export class Planter {
  /** The last of equal seeds that are under way. */
  private readonly underWay = new Map<string, Promise<unknown>>();

  constructor(
    private readonly errands: Pick<Errands, 'run'>,
    private readonly routes: Routes,
    private readonly questions: Questions,
    private readonly firstPauseMs = FIRST_PAUSE_MS,
  ) {}

  /** @throws the reason of what stops it, or ShuttingDown: the seed is then still to be planted. */
  async plant(seed: Seed, caller: Caller, stops: Stops): Promise<LineEnd> {
    const problem = this.problemOf(seed, caller);
    if (problem !== null) return { kind: 'failed', reason: problem };
    return this.afterEqualOnes(JSON.stringify([caller.name, seed]), () => this.plantSound(seed, caller, stops));
  }

  /** One after the other, so that the next finds the answer that the one before has got. */
  private async afterEqualOnes(key: string, plant: () => Promise<LineEnd>): Promise<LineEnd> {
    const before = this.underWay.get(key) ?? Promise.resolve();
    const planting = before.then(plant, plant);
    this.underWay.set(key, planting);
    try {
      return await planting;
    } finally {
      if (this.underWay.get(key) === planting) this.underWay.delete(key);
    }
  }

  private async plantSound(seed: Seed, caller: Caller, { signal, pausing }: Stops): Promise<LineEnd> {
    for (let tries = 1; ; tries++) {
      const result = await this.try(seed, caller, signal);
      if ('end' in result) return result.end;
      if (tries === MOST_TRIES) return { kind: 'failed', reason: result.reason };
      const pauseMs = Math.max(result.retryInMs ?? 0, this.firstPauseMs * 2 ** (tries - 1));
      pausing.throwIfAborted();
      const options = { signal: pausing };
      await sleep(Math.min(LONGEST_PAUSE_MS, pauseMs), undefined, options).catch(() => pausing.throwIfAborted());
    }
  }

  private problemOf({ route: name }: Seed, { routes }: Caller): string | null {
    if (name === null) return 'names no route';
    const route = this.routes.current.target(name);
    if (route === undefined) return `there is no route ${JSON.stringify(name)}`;
    if (routes !== null && !routes.includes(route.name)) return `the key may not use ${JSON.stringify(name)}`;
    return route.cache.exact ? null : `${JSON.stringify(name)} keeps no answers (cache.exact is off)`;
  }

  private async try(seed: Seed, caller: Caller, signal: AbortSignal): Promise<Try> {
    try {
      if (await this.isKept(seed, caller, signal)) return { end: { kind: 'hit' } };
      if (!(await this.isReady(seed))) return NO_VECTOR;
      const given = seed.answer ?? undefined;
      const { outcome, journal } = await this.ask(seed, caller, { headers: FRESH, given, signal });
      if (outcome !== 'generated') return { retryInMs: null, reason: `no first-hand answer came (${outcome})` };
      if (!(await this.comesToBeKept(seed, caller, signal))) return { end: NOT_KEPT };
      if (given !== undefined) return { end: { kind: 'stored' } };
      return { end: { kind: 'generated', tokens: (journal.usage?.input ?? 0) + (journal.usage?.output ?? 0) } };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof SpillwayError) || error instanceof ShuttingDown) throw error;
      const reason = reasonOf(error);
      return mayPass(error) ? { retryInMs: error.retryAfterMs, reason } : { end: { kind: 'failed', reason } };
    }
  }

  /** A seed that only its very words would find is half a seed, and no later run would mend it. */
  private async isReady({ route: name, request }: Seed): Promise<boolean> {
    const route = name === null ? undefined : this.routes.current.target(name);
    return route === undefined || this.questions.prepare(request, route);
  }

  private async comesToBeKept(seed: Seed, caller: Caller, signal: AbortSignal): Promise<boolean> {
    await setImmediate();
    if (await this.isKept(seed, caller, signal)) return true;
    await sleep(KEPT_WITHIN_MS);
    return this.isKept(seed, caller, signal);
  }

  private async isKept(seed: Seed, caller: Caller, signal: AbortSignal): Promise<boolean> {
    try {
      await this.ask(seed, caller, { headers: LOOK, signal });
      return true;
    } catch (error) {
      if (error instanceof NotCached) return false;
      throw error;
    }
  }

  private ask(seed: Seed, caller: Caller, more: Pick<Errand, 'headers' | 'given' | 'signal'>): Promise<ErrandEnd> {
    const headers = { ...PATIENT, 'x-spillway-scope': seed.scope, ...more.headers };
    return this.errands.run({
      ...more,
      body: { model: seed.route, ...seed.request },
      caller,
      priority: 'low',
      headers,
    });
  }
}

const NOT_KEPT: LineEnd = {
  kind: 'failed',
  reason: 'the answer was not kept: cut short, filtered, empty or too large',
};

const NO_VECTOR: Try = { retryInMs: null, reason: 'the embedder gave no vector for the question' };

/** Whether the same call may fare better later. */
function mayPass({ status, retryable }: SpillwayError): boolean {
  return retryable && (status === 429 || status >= 500);
}

function reasonOf(error: SpillwayError): string {
  if (!(error instanceof RefusedByModel)) return `${error.code}: ${error.message}`;
  return `the model refused it with status ${error.status}`;
}
