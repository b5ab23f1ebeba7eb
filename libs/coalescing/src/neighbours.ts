import { randomBytes } from 'node:crypto';
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { rankOf, withEnd, type Answer, type Clock, type KeyedCall, type Next } from '@spillway/contracts';
import type { RedisChannels, RedisConnections, RedisGuard } from '@spillway/redis';
import { Company, type ProcessCount } from './company';
import type { Flight } from './flight';
import { Leads, type Lead } from './leads';
import { Relay } from './relay';
import { RemoteAnswer } from './remote-answer';
import { Transcripts, type Entry } from './transcript';

type Message =
  | { readonly kind: 'knock' | 'leave'; readonly token: string; readonly from: string }
  | { readonly kind: 'news'; readonly token: string }
  | { readonly kind: 'hello' };

/** A flight that this process leads for all. */
interface Led {
  readonly token: string;
  readonly flight: Flight;
  readonly call: KeyedCall;
  readonly followers: Set<string>;
  readonly giveUp: () => void;
  relay: Relay | null;
  /** One, or two while a call of a higher class takes over. */
  works: number;
}

/** In the place of the id of a process. */
const EVERYBODY = 'all';

interface NeighbourParts {
  readonly connections: RedisConnections;
  readonly guard: RedisGuard;
  readonly channels: RedisChannels;
  readonly count: ProcessCount;
}

/**
 * The flights of the other processes on the same Redis. One process leads a flight; it relays what it hears only while
 * others follow. Trouble with Redis means that processes do not share.
 */
export class Neighbours implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly processId = randomBytes(8).toString('hex');
  private readonly led = new Map<string, Led>();
  private readonly ledByFlight = new Map<Flight, Led>();
  private readonly followed = new Map<string, RemoteAnswer>();
  private readonly leads: Leads;
  private readonly transcripts: Transcripts;
  private readonly company: Company;
  private readonly subscriptions: readonly (() => void)[];

  constructor(
    private readonly redis: NeighbourParts,
    private readonly clock: Clock,
  ) {
    const { connections, guard, channels, count } = redis;
    const connection = connections.get('commands');
    this.leads = new Leads(connection, guard, connections.prefix, this.processId);
    this.transcripts = new Transcripts(connection, guard, connections.prefix);
    this.company = new Company(count, clock);
    const hear = (text: string): void => this.hear(JSON.parse(text) as Message);
    this.subscriptions = [EVERYBODY, this.processId].map(name => channels.channel(this.channelOf(name), hear));
  }

  /** Does the work of a flight, or follows the process that does. */
  work(flightId: string, flight: Flight, call: KeyedCall, next: Next<KeyedCall>): Promise<Answer> {
    return this.company.isThere ? this.workBesideOthers(flightId, flight, call, next) : next(call);
  }

  /** From now on calls of others may be calls of this process. */
  onApplicationBootstrap(): void {
    this.send(EVERYBODY, { kind: 'hello' }).catch(() => undefined);
  }

  beforeApplicationShutdown(): void {
    for (const unsubscribe of this.subscriptions) unsubscribe();
  }

  private async workBesideOthers(
    flightId: string,
    flight: Flight,
    call: KeyedCall,
    next: Next<KeyedCall>,
  ): Promise<Answer> {
    const own = this.ledByFlight.get(flight);
    if (own !== undefined) return this.lead(own, call, next);
    // Who follows a process in vain tries to lead once, then goes on without the others.
    for (let attempt = 0; attempt < 2; attempt++) {
      const taken = await this.leads.take(flightId, call.priority).catch(() => null);
      if (taken === null) break;
      const { isMine, lead } = taken;
      if (isMine) return this.lead(this.begin(lead, flight, call), call, next);
      // A lower class is not waited for, nor is what this process has just ended.
      if (rankOf(call.priority) < lead.rank || lead.processId === this.processId) break;
      call.journal.note({ kind: 'coalesce', role: 'follows', with: null });
      const answer = await this.follow(lead, call);
      if (answer !== null) return answer;
      call.journal.cache = 'MISS';
    }
    call.signal.throwIfAborted();
    return next(call);
  }

  private begin(lead: Lead, flight: Flight, call: KeyedCall): Led {
    const { token } = lead;
    const giveUp = this.leads.keep(lead);
    const led: Led = { token, flight, call, followers: new Set(), giveUp, relay: null, works: 0 };
    this.led.set(token, led);
    this.ledByFlight.set(flight, led);
    return led;
  }

  private async lead(led: Led, call: KeyedCall, next: Next<KeyedCall>): Promise<Answer> {
    led.works++;
    const over = once(() => {
      led.works--;
      if (led.works === 0) this.end(led);
    });
    try {
      const { outcome, parts } = await next(call);
      // Followers that find nobody in the lead go on by themselves: first they must have all.
      return { outcome, parts: withEnd(parts, () => void Promise.resolve(led.relay?.over).then(over)) };
    } catch (error) {
      // And here one of them is to lead, before they hear that there will be no answer.
      over();
      throw error;
    }
  }

  private end({ token, flight, giveUp }: Led): void {
    this.led.delete(token);
    this.ledByFlight.delete(flight);
    giveUp();
  }

  private async follow(lead: Lead, call: KeyedCall): Promise<Answer | null> {
    const { token, processId } = lead;
    let last = '-';
    const remote = new RemoteAnswer(call, {
      now: () => this.clock.now(),
      isLed: () => this.leads.isHeld(lead),
      knock: () => this.send(processId, { kind: 'knock', token, from: this.processId }),
      leave: () => this.send(processId, { kind: 'leave', token, from: this.processId }),
      read: async () => {
        const found = await this.transcripts.read(token, last);
        ({ last } = found);
        return found.entries;
      },
    });
    this.followed.set(token, remote);
    const over = (): void => void this.followed.delete(token);
    try {
      const parts = await remote.open();
      if (parts !== null) return { outcome: 'coalesced', parts: withEnd(parts, over) };
      over();
      return null;
    } catch (error) {
      over();
      throw error;
    }
  }

  private hear(message: Message): void {
    switch (message.kind) {
      case 'news':
        return this.followed.get(message.token)?.news();
      case 'knock':
        return this.letIn(message.token, message.from);
      case 'leave':
        return this.letOut(message.token, message.from);
      case 'hello':
        return this.company.sign();
      default:
        return message satisfies never;
    }
  }

  private letIn(token: string, follower: string): void {
    const led = this.led.get(token);
    if (led === undefined) return;
    led.followers.add(follower);
    const write = (entry: Entry): Promise<void> => this.tell(token, led, entry);
    if (led.relay === null && led.flight.admits(led.call)) led.relay = new Relay(led.flight, led.call, write);
    if (led.relay !== null) led.relay.knock();
    // Too long by now to be told from its start.
    else write({ kind: 'failed' }).catch(() => undefined);
  }

  private letOut(token: string, follower: string): void {
    const led = this.led.get(token);
    if (led?.followers.delete(follower) === true && led.followers.size === 0) led.relay?.deserted();
  }

  private async tell(token: string, { followers }: Led, entry: Entry): Promise<void> {
    await this.transcripts.write(token, entry);
    for (const follower of followers) await this.send(follower, { kind: 'news', token });
  }

  private async send(processId: string, message: Message): Promise<void> {
    const { guard, channels } = this.redis;
    await guard.run(() => channels.publish(this.channelOf(processId), JSON.stringify(message)));
  }

  private channelOf(processId: string): string {
    return `${this.redis.connections.prefix}:coalesce:${processId}`;
  }
}

function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    act();
  };
}
