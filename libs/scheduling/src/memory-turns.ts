import type { Call, Turn } from '@spillway/contracts';
import type { MemoryPermits, WaitRequest } from '@spillway/quota';
import { PermitTurns } from './permit-turns';
import type { TurnDesk } from './turn-desk';

/** Turns within one process, without a queue between entry and worker: every ticket is reached at once. */
export class MemoryTurns extends PermitTurns {
  protected readonly place = 'memory';
  protected readonly sendsAtOnce = false;

  constructor(
    desk: TurnDesk,
    private readonly own: Pick<MemoryPermits, 'adopt'>,
  ) {
    super(desk);
    desk.permits.onGrant(grant => this.receive(grant));
  }

  /** A turn from elsewhere counts here as long as it lasts, as one of the calls that this process has under way. */
  adopt(call: Call, turn: Turn): Turn {
    const end = this.own.adopt(turn.model.name, call.priority);
    let open = true;
    return {
      model: turn.model,
      close: (how, usage, observed) => {
        if (open) end();
        open = false;
        turn.close(how, usage, observed);
      },
    };
  }

  protected async send(request: WaitRequest): Promise<void> {
    const reached = await this.desk.permits.reach(request.ticket);
    if (reached.kind === 'granted') this.receive(reached.grant);
  }

  protected recall(): void {
    /* Nothing carries a ticket here. */
  }
}
