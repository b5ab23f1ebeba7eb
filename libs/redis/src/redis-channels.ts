import { Injectable } from '@nestjs/common';
import type { RedisConnections } from './redis-connections';

type ChannelListener = (message: string) => void;

/** Publish and subscribe on one shared connection; subscriptions survive a reconnect. */
@Injectable()
export class RedisChannels {
  private readonly listeners = new Map<string, Set<ChannelListener>>();

  constructor(private readonly connections: RedisConnections) {
    connections.get('subscriber').on('message', (channel: string, message: string) => {
      for (const listener of this.listeners.get(channel) ?? []) listener(message);
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
