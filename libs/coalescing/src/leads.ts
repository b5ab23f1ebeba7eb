import { rankOf, type Priority } from '@spillway/contracts';
import { defineScript, type Redis, type RedisGuard } from '@spillway/redis';
import { KEEP_LEAD } from './keep-lead.lua';
import { TAKE_LEAD } from './take-lead.lua';

/** A process that dies holds up its followers for no longer. */
const LIFE_MS = 1_500;
const RENEW_EVERY_MS = 500;

const takeLead = defineScript('take-lead', TAKE_LEAD, 1);
const keepLead = defineScript('keep-lead', KEEP_LEAD, 1);

/** Who leads a flight among all processes. */
export interface Lead {
  readonly flightId: string;
  /** Names this lead and no other. */
  readonly token: string;
  readonly processId: string;
  /** Of the class that leads. */
  readonly rank: number;
}

/** The leads of flights, in Redis: one process at a time has one, and it ends with that process. */
export class Leads {
  private count = 0;

  constructor(
    private readonly connection: Redis,
    private readonly guard: Pick<RedisGuard, 'run'>,
    private readonly prefix: string,
    private readonly processId: string,
  ) {}

  /** Takes the lead, or tells who has it. @throws RedisUnavailable */
  async take(flightId: string, priority: Priority): Promise<{ readonly isMine: boolean; readonly lead: Lead }> {
    const { processId } = this;
    const mine = { flightId, processId, token: `${processId}-${++this.count}`, rank: rankOf(priority) };
    const values = [valueOf(mine), LIFE_MS];
    const held = String(await this.guard.run(() => takeLead.run(this.connection, [this.keyOf(flightId)], values)));
    return held === '' ? { isMine: true, lead: mine } : { isMine: false, lead: leadIn(flightId, held) };
  }

  /** Keeps a lead alive; returns what gives it up. */
  keep(lead: Lead): () => void {
    const prolong = (ms: number): void => {
      const values = [valueOf(lead), ms];
      // A lead that is lost ends by itself.
      this.guard.run(() => keepLead.run(this.connection, [this.keyOf(lead.flightId)], values)).catch(() => undefined);
    };
    const timer = setInterval(() => prolong(LIFE_MS), RENEW_EVERY_MS).unref();
    return () => {
      clearInterval(timer);
      prolong(0);
    };
  }

  /** @throws RedisUnavailable */
  async isHeld(lead: Lead): Promise<boolean> {
    return (await this.guard.run(() => this.connection.get(this.keyOf(lead.flightId)))) === valueOf(lead);
  }

  private keyOf(flightId: string): string {
    return `${this.prefix}:coalesce:lead:${flightId}`;
  }
}

function valueOf({ processId, token, rank }: Lead): string {
  return `${processId} ${token} ${rank}`;
}

function leadIn(flightId: string, value: string): Lead {
  const [processId = '', token = '', rank = '0'] = value.split(' ');
  return { flightId, processId, token, rank: Number(rank) };
}
