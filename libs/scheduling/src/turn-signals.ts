import { ownerOf, type Grant } from '@spillway/quota';
import type { RedisChannels } from '@spillway/redis';
import type { Report } from './report';

/**
 * "Your turn": brings a grant to the owner of its ticket, directly within this process, else by Redis, where it may
 * get lost.
 */
export class TurnSignals {
  private listener: (grant: Grant) => void = () => undefined;
  private readonly unsubscribe: () => void;

  constructor(
    private readonly processId: string,
    private readonly prefix: string,
    private readonly channels: Pick<RedisChannels, 'channel' | 'publish'>,
    private readonly report: Report,
  ) {
    const onMessage = (message: string): void => this.listener(JSON.parse(message) as Grant);
    this.unsubscribe = channels.channel(this.channelOf(processId), onMessage);
  }

  /** Who is told of this process's turns; the same one may come twice. */
  onTurn(listener: (grant: Grant) => void): void {
    this.listener = listener;
  }

  tell(grant: Grant): void {
    const owner = ownerOf(grant.ticket);
    if (owner === this.processId) {
      this.listener(grant);
      return;
    }
    this.channels
      .publish(this.channelOf(owner), JSON.stringify(grant))
      .catch((error: unknown) => this.report('an owner was not told of its turn', error));
  }

  stop(): void {
    this.unsubscribe();
  }

  private channelOf(owner: string): string {
    return `${this.prefix}:turns:${owner}`;
  }
}
