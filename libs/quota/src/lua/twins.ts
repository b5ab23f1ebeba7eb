import { deepStrictEqual, ok } from 'node:assert';
import { randomUUID } from 'node:crypto';
import { defineScript, type Redis, type RedisScript } from '@spillway/redis';
import { Ledger } from '../ledger';
import type { ModelLimits, Shares } from '../limits';
import type { LearnedReport, Lesson } from '../learned';
import type { Entry, ModelReport, WaitReport } from '../permits';
import { TermsBook } from '../terms';
import { BEAT } from './beat.lua';
import { ENTER } from './enter.lua';
import { EXPLAIN } from './explain.lua';
import { INSPECT } from './inspect.lua';
import { learnedFrom, observedText } from './learned-texts';
import { LIST_WAITS } from './list-waits.lua';
import { REACH } from './reach.lua';
import { REBOOK } from './rebook.lua';
import { RELEASE } from './release.lua';
import { RENEW } from './renew.lua';
import { keysOf } from './scripts';
import { SPARE } from './spare.lua';
import { SURVEY } from './survey.lua';
import { WITHDRAW } from './withdraw.lua';

export const TIMINGS = { leaseMs: 9000, claimMs: 4000 };
export const MODELS = ['m', 'n'];
const SHARES: Shares = {
  critical: { share: 1, min_share: 0 },
  normal: { share: 0.9, min_share: 0.1 },
  low: { share: 0.7, min_share: 0.2 },
};

const scripts = new Map<string, RedisScript>();

/** A script that reads the time from two keys that the test sets. */
function clocked(lua: string): RedisScript {
  const clock = "{ redis.call('GET', KEYS[1] .. ':clock'), redis.call('GET', KEYS[1] .. ':micros') }";
  const script = scripts.get(lua) ?? defineScript('clocked', lua.replace("redis.call('TIME')", clock), 10);
  scripts.set(lua, script);
  return script;
}

type How = 'express' | 'reached' | 'pumped' | 'spare';

/** The law twice, side by side: in Redis, with a clock that the test sets, and in memory. */
export class Twins {
  now = 1_800_000_000_000;
  readonly granted = new Map<string, string>();
  readonly waiting = new Set<string>();
  /** What bound, and why rates were what they were. */
  readonly seen = new Set<string>();
  private readonly prefix = `scripts-${randomUUID()}`;
  private readonly keys = keysOf(this.prefix);
  private readonly terms: TermsBook;
  private readonly ledger: Ledger;
  private told: string[] = [];
  private tickets = 0;

  constructor(
    private readonly redis: Redis,
    limits: ReadonlyMap<string, ModelLimits>,
    private readonly grants: Record<How, number>,
  ) {
    this.terms = new TermsBook({ limitsOf: model => limits.get(model) ?? null, shares: () => SHARES });
    this.ledger = new Ledger(this.terms, TIMINGS, grant => this.told.push(`${grant.ticket}@${grant.model}`));
  }

  async setClock(): Promise<void> {
    await this.redis.set(`${this.keys[0]}:clock`, Math.floor(this.now / 1000));
    await this.redis.set(`${this.keys[0]}:micros`, (this.now % 1000) * 1000);
  }

  async enter(rank: number, models: string[], wait: number, tokens: number, express: boolean): Promise<void> {
    const ticket = `t${String(this.tickets++).padStart(4, '0')}`;
    const turnBy = this.now + wait;
    const values = [ticket, rank + 1, turnBy, wait, tokens, express ? 1 : 0, 4, ...this.terms_(models)];
    const asked = { ticket, rank, models, turnBy, tokens };
    const enter = (): Entry => this.ledger.enter(asked, { express, queueLimit: 4 }, this.now);
    const [entry, kind, ...rest] = await this.run(ENTER, values, enter);
    deepStrictEqual(kind, entry.kind);
    compareEntry(entry, rest);
    if (entry.kind === 'granted') this.grant('express', `${ticket}@${entry.grant.model}`);
    if (entry.kind === 'queued') this.waiting.add(ticket);
  }

  async takeSpare(rank: number, model: string, tokens: number): Promise<void> {
    const ticket = `t${String(this.tickets++).padStart(4, '0')}`;
    const asked = { ticket, rank, models: [model], turnBy: this.now, tokens };
    const values = [ticket, rank + 1, tokens, ...this.terms_([model])];
    const [grant, granted] = await this.run(SPARE, values, () => this.ledger.takeSpare(asked, this.now));
    deepStrictEqual(granted, grant === null ? 0 : 1);
    if (grant !== null) this.grant('spare', `${ticket}@${model}`);
  }

  async reach(ticket: string): Promise<void> {
    const [reached, kind, model] = await this.run(REACH, [ticket], () => this.ledger.reach(ticket, this.now));
    deepStrictEqual(kind, reached.kind);
    if (reached.kind !== 'granted') return;
    deepStrictEqual(model, reached.grant.model);
    this.grant('reached', `${ticket}@${reached.grant.model}`);
  }

  async withdraw(ticket: string): Promise<void> {
    this.granted.delete(ticket);
    this.waiting.delete(ticket);
    await this.run(WITHDRAW, [ticket], () => this.ledger.withdraw(ticket, this.now));
  }

  async release(ticket: string, used: number | null, { end, observed }: Lesson): Promise<void> {
    this.granted.delete(ticket);
    const values = [ticket, used ?? '', end, observedText(observed)];
    await this.run(RELEASE, values, () => this.ledger.release(ticket, used, { end, observed }, this.now));
  }

  async rebook(ticket: string, tokens: number): Promise<void> {
    await this.run(REBOOK, [ticket, tokens], () => this.ledger.rebook(ticket, tokens, this.now));
  }

  async renew(ticket: string): Promise<void> {
    await clocked(RENEW).run(this.redis, this.keys, [TIMINGS.leaseMs, ticket]);
    this.ledger.renew(ticket, this.now);
  }

  async pass(ms: number): Promise<void> {
    this.now += ms;
    await this.setClock();
    await this.run(BEAT, this.terms_(MODELS), () => void this.ledger.look(this.now));
  }

  async compare(): Promise<void> {
    for (const model of MODELS) {
      const explain = (): ModelReport => this.ledger.explain(model, this.now);
      const [report, limits, waits, binds, learned] = await this.run(EXPLAIN, this.terms_([model]), explain);
      deepStrictEqual(
        limits,
        report.limits.map(({ limit, admitted, used }) => [limit, admitted, used]),
      );
      deepStrictEqual(waits, Object.values(report.waiting));
      deepStrictEqual(binds, report.binds ? [report.binds.limit, report.binds.inMs ?? -1] : []);
      this.note(report);
      compareLearned(report.learned, learned === '' ? null : learnedFrom(String(learned)));
    }
    const tickets = [...this.granted.keys(), ...this.waiting];
    const stateOf = (ticket: string): string => {
      const state = this.ledger.stateOf(ticket);
      return state.kind === 'granted' ? `granted:${state.grant.model}` : state.kind;
    };
    const [states, found] = await this.run(INSPECT, tickets, () => tickets.map(stateOf));
    deepStrictEqual(found, states);
    const [depths, counted] = await this.run(SURVEY, [], () => [0, 1, 2].map(rank => this.ledger.depth(rank)));
    deepStrictEqual(counted, depths);
    for (const rank of [0, 1, 2]) await this.compareWaits(rank);
  }

  /** In no order: those that end in the same millisecond are listed by name there, by arrival here. */
  private async compareWaits(rank: number): Promise<void> {
    const waits = (): readonly WaitReport[] => this.ledger.waits(rank, 100, this.now);
    const [listed, found] = await this.run(LIST_WAITS, [rank + 1, 100], waits);
    const rows = listed.map(({ ticket, models, tokens, waitedMs, leftMs, reached }) => {
      return [ticket, models, tokens, waitedMs, leftMs, reached ? 1 : 0];
    });
    const sorted = (list: unknown): unknown[] =>
      [...(list as unknown[][])].sort((a, b) => (String(a) < String(b) ? -1 : 1));
    deepStrictEqual(sorted(found), sorted(rows));
  }

  private note({ binds, learned }: ModelReport): void {
    const rests = learned !== null && learned.restMs > 0;
    const all = [binds?.limit, learned?.why, rests && 'rest', ...Object.keys(learned?.observed ?? {})];
    for (const one of all) this.seen.add(String(one));
  }

  /** Runs a script and its twin, and sees to it that both grant the same waits in the same order. */
  private async run<T>(lua: string, values: (string | number)[], twin: () => T): Promise<[T, ...unknown[]]> {
    this.told = [];
    const fixed = ['p', `{${this.prefix}}:grants:`, TIMINGS.claimMs];
    const reply = await clocked(lua).run(this.redis, this.keys, [...fixed, ...values]);
    const [, flat, ...rest] = reply as [number, string[], ...unknown[]];
    const result = twin();
    const granted = flat.flatMap((ticket, at) => (at % 2 === 0 ? [`${ticket}@${flat[at + 1]}`] : []));
    deepStrictEqual(granted, this.told);
    for (const grant of granted) this.grant('pumped', grant);
    return [result, ...rest];
  }

  private grant(how: How, grant: string): void {
    this.grants[how]++;
    const [ticket = '', model = ''] = grant.split('@');
    this.granted.set(ticket, model);
    this.waiting.delete(ticket);
  }

  private terms_(models: readonly string[]): string[] {
    return models.flatMap(model => [model, this.terms.json(model)]);
  }
}

function compareEntry(entry: Entry, [first, second, third, fourth]: readonly unknown[]): void {
  if (entry.kind === 'granted') deepStrictEqual(first, entry.grant.model);
  // The two languages may round the last digit of an exponential differently.
  const near = (one: unknown, other: number): void => ok(Math.abs(Number(one) - other) <= 1);
  if (entry.kind === 'full') near(first, entry.retryAfterMs);
  if (entry.kind !== 'queued') return;
  deepStrictEqual(first, entry.ahead);
  deepStrictEqual(third, entry.binds ?? '');
  deepStrictEqual(fourth, entry.freeInMs);
  near(second, entry.estimateMs ?? -1);
}

function compareLearned(memory: LearnedReport | null, redis: LearnedReport | null): void {
  // The server prints 14 digits.
  const rounded = memory && { ...memory, rate: memory.rate && Number(memory.rate.toPrecision(14)) };
  deepStrictEqual(redis && { ...redis }, rounded);
}
