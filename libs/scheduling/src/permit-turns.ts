import { SpillwayError, Turns, type Call, type ModelSettings, type Priority, type Turn } from '@spillway/contracts';
import type { Entry, Grant, ModelReport, WaitReport, WaitRequest } from '@spillway/quota';
import { endOfWait, queueFull, shuttingDown, tooLate, UNKNOWN_WAIT_MS } from './refusals';
import { learnFrom, type TurnDesk } from './turn-desk';

/** A wait, and the ticket of it that is on its way to a worker already; null: it has not been sent. */
interface Registered {
  readonly request: WaitRequest;
  readonly entry: Extract<Entry, { kind: 'queued' }>;
  readonly sent: Promise<void> | null;
}

const WITHDRAW_AGAIN_MS = 500;
/** A reserve that differs by no more than this share of it is not worth booking anew. */
const SAME_SHARE = 0.1;

/** Turns by permits; how a waiting ticket gets to a worker is what its kinds differ in. */
export abstract class PermitTurns extends Turns {
  private stopped = false;

  constructor(protected readonly desk: TurnDesk) {
    super();
  }

  async take(call: Call, models: readonly ModelSettings[]): Promise<Turn> {
    const { journal, signal } = call;
    if (this.stopped) throw shuttingDown();
    if (signal.aborted) throw endOfWait(signal, UNKNOWN_WAIT_MS);
    const startedAt = this.desk.clock.now();
    try {
      const turn = await this.obtain(call, models);
      const waitMs = this.desk.clock.now() - startedAt;
      journal.note({ kind: 'turn', model: turn.model.name, waitMs, from: this.place });
      return turn;
    } catch (error) {
      const waitMs = this.desk.clock.now() - startedAt;
      journal.note({ kind: 'no-turn', why: error instanceof SpillwayError ? error.code : 'redis_lost', waitMs });
      throw error;
    } finally {
      journal.queueMs += this.desk.clock.now() - startedAt;
    }
  }

  async takeSpare(call: Call, model: ModelSettings): Promise<Turn | null> {
    if (this.stopped || call.signal.aborted) return null;
    const request = this.requestOf(call, [model]);
    try {
      const grant = await this.desk.permits.takeSpare(request);
      if (grant === null || (this.desk.open.mayBeStale && !(await this.holds(grant)))) return null;
      return this.begin(call, model, request.tokens, grant);
    } catch {
      this.withdraw(request);
      return null;
    }
  }

  /** Calls under way by model. */
  inflight(): Promise<Readonly<Record<string, number>>> {
    return this.desk.permits.inflight();
  }

  /** What the limits of a model hold, and what its waiting calls wait for. */
  explain(model: string): Promise<ModelReport> {
    return this.desk.permits.explain(model);
  }

  /** The waits of a class, at most so many, those that end first before the others. */
  waits(priority: Priority, most: number): Promise<readonly WaitReport[]> {
    return this.desk.permits.waits(priority, most);
  }

  /** Waiting calls by class. */
  depths(): Promise<Readonly<Record<Priority, number>>> {
    return this.desk.permits.depths();
  }

  /** Ends every wait of this process and begins none; turns that are open stay so. */
  stop(): void {
    this.stopped = true;
    this.desk.open.leaveNow();
    this.desk.room.failAll(shuttingDown());
  }

  /** Leaves the turns that are still open to the expiry of their leases. */
  leave(): void {
    this.desk.open.stop();
  }

  /** Where its permits are decided. */
  protected abstract readonly place: 'redis' | 'memory';

  /** Whether a ticket is sent to a worker while its wait is being registered, as hardly any gets its turn before that. */
  protected abstract get sendsAtOnce(): boolean;

  /** Lets a worker reach the ticket. */
  protected abstract send(request: WaitRequest): Promise<void>;

  /** Nobody needs to reach the ticket any more; never fails. */
  protected abstract recall(request: WaitRequest): void;

  /** Registers a wait. */
  protected enter(request: WaitRequest): Promise<Entry> {
    const { scheduling, priorities } = this.desk.settings.current;
    const { queue_limit: queueLimit } = priorities[request.priority];
    return this.desk.permits.enter(request, { express: scheduling.express, queueLimit });
  }

  /** A grant has come, perhaps not for the first time, perhaps for a wait that is over. */
  protected receive(grant: Grant): void {
    if (this.desk.open.mayBeStale) void this.receiveLate(grant);
    else this.accept(grant);
  }

  private accept(grant: Grant): void {
    if (this.desk.room.admit(grant) || this.desk.open.has(grant)) return;
    this.desk.permits.withdraw(grant.ticket).catch(() => undefined);
  }

  /** A wait whose grant has ended stays, and is entered again where its queue has a watchdog. */
  private async receiveLate(grant: Grant): Promise<void> {
    const holds = await this.holds(grant).catch(() => false);
    if (holds) this.accept(grant);
  }

  private async holds({ ticket }: Grant): Promise<boolean> {
    const [state] = await this.desk.permits.inspect([ticket]);
    return state?.kind === 'granted';
  }

  private async obtain(call: Call, models: readonly ModelSettings[]): Promise<Turn> {
    const { signal } = call;
    const request = this.requestOf(call, models);
    const { entry, sent } = await this.register(request);
    switch (entry.kind) {
      case 'granted':
        if (this.desk.open.mayBeStale && !(await this.holds(entry.grant))) return this.obtain(call, models);
        if (!signal.aborted) {
          return this.begin(call, modelOf(entry.grant, models), request.tokens, entry.grant);
        }
        this.withdraw(request);
        throw endOfWait(signal, UNKNOWN_WAIT_MS);
      case 'full':
        if (sent !== null) this.recall(request);
        throw queueFull(entry.retryAfterMs);
      case 'queued':
        return this.queue(call, models, { request, sent, entry });
      default:
        return entry satisfies never;
    }
  }

  /** `sent`: the ticket is on its way already. */
  private async register(request: WaitRequest): Promise<{ entry: Entry; sent: Promise<void> | null }> {
    const entering = this.enter(request);
    const sent = this.sendsAtOnce ? this.send(request) : null;
    // Whoever waits hears of it then.
    sent?.catch(() => undefined);
    try {
      return { entry: await entering, sent };
    } catch (error) {
      if (sent !== null) this.recall(request);
      this.withdraw(request);
      throw error;
    }
  }

  private async queue(
    call: Call,
    models: readonly ModelSettings[],
    { request, sent, entry: { freeInMs, ...place } }: Registered,
  ): Promise<Turn> {
    const { room, clock } = this.desk;
    const { signal, journal } = call;
    const { estimateMs } = place;
    journal.note({ models: request.models, answerMs: this.answerMs(call, models), ...place });
    const freeAt = clock.now() + freeInMs;
    const retryAfterMs = (): number => Math.max(estimateMs ?? UNKNOWN_WAIT_MS, freeAt - clock.now());
    const isTooLate = clock.now() + (estimateMs ?? 0) >= request.turnBy;
    // This process may have stopped while the wait was being registered.
    if (this.stopped || isTooLate) {
      if (sent !== null) this.recall(request);
      this.withdraw(request);
      throw this.stopped ? shuttingDown() : tooLate(retryAfterMs());
    }
    try {
      const accept = (grant: Grant): Turn => {
        const model = modelOf(grant, models);
        return this.begin(call, model, this.rebook(call, model, request.tokens, grant), grant);
      };
      const turn = room.wait({ request, signal, retryAfterMs, accept });
      (sent ?? this.send(request)).catch((error: unknown) => room.fail(request.ticket, error));
      return await turn;
    } catch (error) {
      this.recall(request);
      this.withdraw(request);
      throw error;
    }
  }

  /**
   * Fails only while Redis is lost. The wait may be there all the same, entered by a command that took too long, and
   * would hold up others until its time is over.
   */
  private withdraw(request: WaitRequest): void {
    this.desk.permits.withdraw(request.ticket).catch(() => {
      if (request.turnBy > this.desk.clock.now()) setTimeout(() => this.withdraw(request), WITHDRAW_AGAIN_MS).unref();
    });
  }

  /** Books a call that has waited with what is known by now; how many tokens it is booked with. */
  private rebook(call: Call, model: ModelSettings, tokens: number, grant: Grant): number {
    const again = this.desk.estimator.reserve(call, model);
    if (Math.abs(again - tokens) <= SAME_SHARE * tokens) return tokens;
    this.desk.permits.rebook(grant, again).catch(() => undefined);
    return again;
  }

  /** A turn from whose end the next estimates and the limits of its model learn. */
  private begin(call: Call, model: ModelSettings, tokens: number, grant: Grant): Turn {
    const begun = { at: this.desk.clock.now(), end: this.desk.estimator.begin(call, model, tokens) };
    const turn = this.desk.open.open(grant, model, () => this.desk.estimator.predict(call, model));
    return {
      model,
      close: (end, usage = null, observed) => {
        learnFrom(this.desk, call, model, begun, { end, usage, observed, reserved: tokens });
        turn.close(end, usage, observed);
      },
    };
  }

  /**
   * What a call must leave of its deadline for its answer, ms: what models take even when they are fast. A permit that came
   * later would use up a limit for an answer that nobody may wait for. 0: no deadline, or nothing known yet.
   */
  private answerMs(call: Call, models: readonly ModelSettings[]): number {
    return call.answerBy === undefined ? 0 : this.desk.times.least(call, models);
  }

  private requestOf(call: Call, models: readonly ModelSettings[]): WaitRequest {
    const [first] = models;
    return {
      ticket: this.desk.tickets.next(),
      owner: this.desk.processId,
      priority: call.priority,
      models: models.map(model => model.name),
      turnBy: Math.min(call.turnBy, (call.answerBy ?? Infinity) - this.answerMs(call, models)),
      tokens: first === undefined ? 0 : this.desk.estimator.reserve(call, first),
    };
  }
}

function modelOf(grant: Grant, models: readonly ModelSettings[]): ModelSettings {
  const model = models.find(({ name }) => name === grant.model);
  if (model === undefined) throw new Error(`a permit for ${grant.model}, which was not asked for`);
  return model;
}
