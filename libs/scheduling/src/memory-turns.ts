import type { WaitRequest } from '@spillway/quota';
import { PermitTurns, type TurnDesk } from './permit-turns';

/** Turns within one process, without a queue between entry and worker: every ticket is reached at once. */
export class MemoryTurns extends PermitTurns {
  protected readonly place = 'memory';

  constructor(desk: TurnDesk) {
    super(desk);
    desk.permits.onGrant(grant => this.receive(grant));
  }

  protected async send(request: WaitRequest): Promise<void> {
    const reached = await this.desk.permits.reach(request.ticket);
    if (reached.kind === 'granted') this.receive(reached.grant);
  }

  protected recall(): void {
    /* Nothing carries a ticket here. */
  }
}
