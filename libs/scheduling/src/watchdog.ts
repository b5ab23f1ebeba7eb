import type { Grant, Permits, TicketState, WaitRequest } from '@spillway/quota';
import type { Report } from './report';
import type { WaitingRoom } from './waiting-room';

/** With the time after which a silent worker counts as dead, less than a second. */
const PERIOD_MS = 250;
/** Bounds what one look costs Redis; the others are looked at next. */
const TICKETS_AT_ONCE = 1_000;

/** For so many looks, three seconds, tickets wait unreached before it is said that no worker seems to be there. */
const LOOKS_IN_VAIN = 12;

const NOBODY_THERE =
  'calls wait and no worker takes them: does a process of the role `worker` or `all` run on this Redis?';

/** What can be done for a wait that nothing was heard of. */
export interface Rescue {
  receive(grant: Grant): void;
  sendAgain(requests: readonly WaitRequest[]): Promise<void>;
  enterAgain(request: WaitRequest): Promise<void>;
}

/**
 * Asks the permits about the waits of this process, so that none depends on a message that may be lost: a grant whose
 * signal did not arrive is taken, a ticket that fell out of its queue (its worker died) is queued again, and one that
 * is unknown (Redis came back empty) is entered again.
 */
export class Watchdog {
  private readonly timer: NodeJS.Timeout;
  private looking = false;
  /** Looks one after the other at which tickets waited and none had been reached. */
  private inVain = 0;

  constructor(
    private readonly permits: Pick<Permits, 'inspect'>,
    private readonly room: WaitingRoom,
    private readonly rescue: Rescue,
    private readonly report: Report,
  ) {
    this.timer = setInterval(() => void this.look(), PERIOD_MS).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private async look(): Promise<void> {
    if (this.looking) return;
    this.looking = true;
    try {
      const tickets = this.room.due(TICKETS_AT_ONCE, PERIOD_MS / 2);
      if (tickets.length > 0) await this.attend(await this.permits.inspect(tickets));
    } catch (error) {
      this.report('waiting tickets were not checked', error);
    } finally {
      this.looking = false;
    }
  }

  private async attend(states: readonly TicketState[]): Promise<void> {
    const unreached: WaitRequest[] = [];
    let isServed = false;
    for (const state of states) {
      const request = this.room.find(state.ticket);
      if (request === undefined) continue;
      switch (state.kind) {
        case 'granted':
          isServed = true;
          this.rescue.receive(state.grant);
          break;
        case 'gone':
          await this.rescue.enterAgain(request);
          break;
        case 'queued':
          unreached.push(request);
          break;
        case 'reached':
          isServed = true;
          break;
        default:
          state satisfies never;
      }
    }
    this.note(isServed || unreached.length === 0);
    if (unreached.length > 0) await this.rescue.sendAgain(unreached);
  }

  private note(isServed: boolean): void {
    this.inVain = isServed ? 0 : this.inVain + 1;
    if (this.inVain === LOOKS_IN_VAIN) this.report(NOBODY_THERE, null);
  }
}
