import { Injectable } from '@nestjs/common';
import { MemoryStore } from '@spillway/cache';
import { Metrics, type LookupCounts } from '@spillway/telemetry';

interface CacheReport {
  /** What this process keeps; those in Redis come on top. */
  readonly exact: { readonly entries: number; readonly bytes: number };
  /** Of this process since its start, by what was looked into. */
  readonly lookups: LookupCounts;
}

/** What the caches hold, and how often that helped. */
@Injectable()
export class CacheStatuses {
  constructor(
    private readonly near: MemoryStore,
    private readonly metrics: Metrics,
  ) {}

  async report(): Promise<CacheReport> {
    return { exact: this.near.held, lookups: await this.metrics.lookupCounts() };
  }
}
