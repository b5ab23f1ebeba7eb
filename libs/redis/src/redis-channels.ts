import { Injectable } from '@nestjs/common';
import type { RedisConnections } from './redis-connections';

type ChannelListener = (message: string) => void;

/** Publish and subscribe on one shared connection; subscriptions survive a reconnect. */
@Injectable()
export class RedisChannels {
  private readonly listeners = new Map<string, Set<ChannelListener>>();

  constructor(private readonly connections: RedisConnections) {
    connections.get('subscriber').on('message', (channel: string, message: string) => {
      for (const listener of this.listeners.get(channel) ?? []) tell(listener, channel, message);
    });
  }

  /** Listens from now on; messages sent while Redis is away are lost. Returns what ends it. */
  channel(name: string, listener: ChannelListener): () => void {
    const subscriber = this.connections.get('subscriber');
    const listeners = this.listeners.get(name) ?? new Set();
    this.listeners.set(name, listeners.add(listener));
    if (listeners.size === 1) subscriber.subscribe(name).catch(() => undefined);
    return () => {
      listeners.delete(listener);
      if (listeners.size > 0) return;
      this.listeners.delete(name);
      subscriber.unsubscribe(name).catch(() => undefined);
    };
  }

  async publish(name: string, message: string): Promise<void> {
    await this.connections.get('commands').publish(name, message);
  }
}

/** Anybody on this Redis may send anything, and another version may mean something else: no message ends a process. */
function tell(listener: ChannelListener, channel: string, message: string): void {
  try {
    listener(message);
  } catch (error) {
    const detail = error instanceof Error ? error.stack : undefined;
    process.emitWarning(`a message on the Redis channel ${channel} was not understood`, { detail });
  }
}
