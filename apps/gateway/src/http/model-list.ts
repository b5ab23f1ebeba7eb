import { Injectable } from '@nestjs/common';
import type { Caller } from '@spillway/contracts';
import { ConfigStore } from '@spillway/config';

export interface ModelEntry {
  readonly id: string;
  readonly object: 'model';
  /** Seconds since the epoch; models have no age here, so it is when this process started. */
  readonly created: number;
  readonly owned_by: string;
}

/** What a caller may put into `model`. */
@Injectable()
export class ModelList {
  private readonly created = Math.floor(Date.now() / 1000);

  constructor(private readonly config: ConfigStore) {}

  of(caller: Caller): readonly ModelEntry[] {
    const { routes, models } = this.config.current;
    return [...routes.keys(), ...models.keys()]
      .filter(id => caller.routes === null || caller.routes.includes(id))
      .map(id => ({ id, object: 'model', created: this.created, owned_by: 'spillway' }));
  }
}
