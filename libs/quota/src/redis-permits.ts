import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { rankOf, type Clock, type Observed, type Priority, type TurnEnd, type Usage } from '@spillway/contracts';
import type { RedisChannels } from '@spillway/redis';
import type { Binding, LimitName, QuotaSettings } from './limits';
import type { AloneUse } from './alone-book';
import { byPriority } from './by-priority';
import type { SCRIPTS } from './lua/scripts';
import {
  Permits,
  type Entry,
  type Grant,
  type ModelReport,
  type Reached,
  type TicketState,
  type WaitReport,
  type WaitRequest,
} from './permits';
import { learnedFrom, observedText } from './lua/learned-texts';
import type { SharedUse } from './local-share';
import { ReachedWaits } from './reached-waits';
import { SharedLaw, type LawParts } from './shared-law';
import { TermsBook } from './terms';
import { tokensOf } from './tokens';
import type { PermitTimings } from './timings';

/** What every pumping script answers: when to look again, grants to waits that this process reached, and its own. */
type Reply = readonly [wakeInMs: number, granted: readonly string[], ...rest: readonly unknown[]];

/** Bounds what one script costs. */
const USES_AT_ONCE = 200;

type ListedWait = readonly [string, readonly string[], number, number, number, 0 | 1];

export interface RedisParts extends LawParts {
  readonly channels: RedisChannels;
}

/** The permits that all processes share: every decision is one script in Redis, by Redis' clock. */
@Injectable()
export class RedisPermits extends Permits implements OnApplicationShutdown {
  private readonly law: SharedLaw;
  private readonly channel: string;
  private readonly terms: TermsBook;
  private readonly listeners = new Set<(grant: Grant) => void>();
  private readonly reached: ReachedWaits;
  private readonly unsubscribe: () => void;

  constructor(
    redis: RedisParts,
    settings: QuotaSettings,
    private readonly clock: Clock,
    /** Names this process among all; letters, digits, `-` and `_`. */
    private readonly process: string,
    private readonly timings: PermitTimings,
  ) {
    super();
    const { prefix } = redis.connections;
    this.law = new SharedLaw(redis, prefix);
    this.channel = `{${prefix}}:grants:`;
    this.terms = new TermsBook(settings);
    this.reached = new ReachedWaits(clock, models => void this.beat(models).catch(() => undefined));
    this.unsubscribe = redis.channels.channel(this.channel + process, message => this.hear(message));
  }

  async enter(request: WaitRequest, options: { express: boolean; queueLimit: number }): Promise<Entry> {
    const [kind, first, second, binds, free] = await this.pumping('enter', [
      request.ticket,
      rankOf(request.priority) + 1,
      request.turnBy,
      Math.max(0, request.turnBy - this.clock.now()),
      request.tokens,
      options.express ? 1 : 0,
      options.queueLimit,
      ...request.models.flatMap(model => [model, this.terms.json(model)]),
    ]);
    if (kind === 'granted') return { kind, grant: grantOf(request.ticket, String(first)) };
    if (kind === 'full') return { kind, retryAfterMs: Number(first) };
    const estimateMs = Number(second) < 0 ? null : Number(second);
    return {
      kind: 'queued',
      ahead: Number(first),
      estimateMs,
      freeInMs: Number(free),
      binds: binds === '' ? null : (binds as Binding),
    };
  }

  async takeSpare(request: WaitRequest): Promise<Grant | null> {
    const { ticket, priority, tokens, models } = request;
    const [model = ''] = models;
    const [granted] = await this.pumping('spare', [
      ticket,
      rankOf(priority) + 1,
      tokens,
      model,
      this.terms.json(model),
    ]);
    return granted === 1 ? grantOf(ticket, model) : null;
  }

  async reach(ticket: string): Promise<Reached> {
    const [kind, first, models] = await this.pumping('reach', [ticket]);
    if (kind === 'granted') return { kind, grant: grantOf(ticket, String(first)) };
    if (kind === 'gone') return { kind };
    this.reached.add(ticket, this.clock.now() + Number(first), models as readonly string[]);
    return { kind: 'waiting' };
  }

  async withdraw(ticket: string): Promise<void> {
    this.reached.delete(ticket);
    await this.pumping('withdraw', [ticket]);
  }

  async release(grant: Grant, end: TurnEnd, usage: Usage | null, observed?: Observed): Promise<void> {
    await this.pumping('release', [grant.lease, tokensOf(usage) ?? '', end, observedText(observed)]);
  }

  async renew(grants: readonly Grant[]): Promise<void> {
    if (grants.length === 0) return;
    await this.law.run('renew', [this.timings.leaseMs, ...grants.map(grant => grant.lease)]);
  }

  async rebook(grant: Grant, tokens: number): Promise<void> {
    await this.pumping('rebook', [grant.lease, tokens]);
  }

  onGrant(listener: (grant: Grant) => void): void {
    this.listeners.add(listener);
  }

  async inspect(tickets: readonly string[]): Promise<readonly TicketState[]> {
    if (tickets.length === 0) return [];
    const [states] = (await this.pumping('inspect', tickets)) as [readonly string[]];
    return tickets.map((ticket, index) => stateOf(ticket, states[index] ?? 'gone'));
  }

  async depths(): Promise<Readonly<Record<Priority, number>>> {
    const [depths] = (await this.pumping('survey', [])) as [readonly number[]];
    return byPriority(rank => depths[rank] ?? 0);
  }

  async waits(priority: Priority, most: number): Promise<readonly WaitReport[]> {
    const [list] = (await this.pumping('listWaits', [rankOf(priority) + 1, most])) as [readonly ListedWait[]];
    return list.map(([ticket, models, tokens, waitedMs, leftMs, reached]) => {
      return { ticket, models, tokens, waitedMs, leftMs, reached: reached === 1 };
    });
  }

  async inflight(): Promise<Readonly<Record<string, number>>> {
    const [, counts] = (await this.pumping('survey', [])) as [unknown, readonly [string, number][]];
    return Object.fromEntries(counts);
  }

  async explain(model: string): Promise<ModelReport> {
    const [limits, waiting, binds, learned] = (await this.pumping('explain', [model, this.terms.json(model)])) as [
      readonly (readonly [LimitName, number, number])[],
      readonly number[],
      readonly [] | readonly [Binding, number],
      string,
    ];
    return {
      limits: limits.map(([limit, admitted, used]) => ({ limit, admitted, used })),
      waiting: byPriority(rank => waiting[rank] ?? 0),
      binds: binds.length === 0 ? null : { limit: binds[0], inMs: binds[1] < 0 ? null : binds[1] },
      learned: learned === '' ? null : learnedFrom(learned),
    };
  }

  /** Shows that this process lives; tells how many do, and what all of them have used. */
  async follow(): Promise<{ readonly processes: number; readonly uses: readonly SharedUse[] }> {
    const [processes, uses] = (await this.pumping('follow', [])) as [
      number,
      readonly (readonly [string, number, number, number, number, number])[],
    ];
    const told = uses.map(([model, calls, tokens, minuteCalls, minuteTokens, dayTokens]) => ({
      model,
      calls,
      tokens,
      minute: { calls: minuteCalls, tokens: minuteTokens },
      dayTokens,
    }));
    return { processes, uses: told };
  }

  /** Books what a process has admitted by itself, as of `now` by the clock of that process. */
  async catchUp(uses: readonly AloneUse[], now: number): Promise<void> {
    for (let at = 0; at < uses.length; at += USES_AT_ONCE) {
      const told = uses.slice(at, at + USES_AT_ONCE).flatMap(({ ticket, model, rank, calls, tokens, at: then }) => {
        return [ticket ?? '', model, this.terms.json(model), rank + 1, calls, tokens, Math.max(0, now - then)];
      });
      await this.pumping('catchUp', [this.timings.leaseMs, ...told]);
    }
  }

  onApplicationShutdown(): void {
    this.reached.stop();
    this.unsubscribe();
  }

  private async beat(models: readonly string[]): Promise<void> {
    await this.pumping(
      'beat',
      models.flatMap(model => [model, this.terms.json(model)]),
    );
  }

  /** Runs a script that pumps, and passes on what it granted; returns the script's own answer. */
  private async pumping(name: keyof typeof SCRIPTS, values: readonly (string | number)[]): Promise<readonly unknown[]> {
    const [wakeInMs, granted, ...rest] = (await this.law.run(name, [
      this.process,
      this.channel,
      this.timings.claimMs,
      ...values,
    ])) as Reply;
    if (wakeInMs >= 0) this.reached.wakeIn(wakeInMs);
    for (let at = 0; at + 1 < granted.length; at += 2) this.announce(String(granted[at]), String(granted[at + 1]));
    return rest;
  }

  private hear(message: string): void {
    const { ticket, model } = JSON.parse(message) as Grant;
    this.announce(ticket, model);
  }

  private announce(ticket: string, model: string): void {
    this.reached.delete(ticket);
    for (const listener of this.listeners) listener(grantOf(ticket, model));
  }
}

/** A ticket has at most one grant, so its lease bears its name. */
function grantOf(ticket: string, model: string): Grant {
  return { ticket, model, lease: ticket };
}

function stateOf(ticket: string, state: string): TicketState {
  if (state.startsWith('granted:')) return { ticket, kind: 'granted', grant: grantOf(ticket, state.slice(8)) };
  return { ticket, kind: state as 'reached' | 'queued' | 'gone' };
}
