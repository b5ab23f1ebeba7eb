import type { CachedAnswer } from './cached-answer';
import { ExactStore } from './exact-store';

/** A near store in front of a far one that is shared: what the far one had is near from then on, until it expires. */
export class LayeredStore extends ExactStore {
  constructor(
    private readonly near: ExactStore,
    private readonly far: ExactStore,
  ) {
    super();
  }

  atHand(key: string): CachedAnswer | null {
    return this.near.atHand(key);
  }

  async get(key: string): Promise<CachedAnswer | null> {
    const near = await this.near.get(key);
    if (near !== null) return near;
    const far = await this.far.get(key);
    if (far !== null) await this.near.set(key, far);
    return far;
  }

  async getStale(key: string): Promise<CachedAnswer | null> {
    return (await this.near.getStale(key)) ?? this.far.getStale(key);
  }

  async set(key: string, answer: CachedAnswer): Promise<void> {
    await Promise.all([this.near.set(key, answer), this.far.set(key, answer)]);
  }
}
