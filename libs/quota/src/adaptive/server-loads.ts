import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import type { Clock } from '@spillway/contracts';
import { loadFactor, readLoad } from './server-load';

const EVERY_MS = 3_000;
const WITHIN_MS = 1_000;
/** What was read longer ago says nothing any more. */
const STALE_MS = 15_000;
/** No page of a model server is longer; a stream that never ends must not fill the memory. */
const LONGEST_BYTES = 4_000_000;

/** A model whose server tells its load. */
export interface LoadedModel {
  readonly name: string;
  readonly load_url: string;
}

interface Read {
  readonly url: string;
  readonly factor: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Reads the load of model servers again and again. */
export class ServerLoads implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly reads = new Map<string, Read>();
  private readonly failing = new Set<string>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly models: () => readonly LoadedModel[],
    private readonly clock: Clock,
    private readonly report: (problem: string, fields: object) => void,
  ) {}

  onApplicationBootstrap(): void {
    void this.readAll();
    this.timer = setInterval(() => void this.readAll(), EVERY_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /** The share of its token rate that a model has; 1 while its load is not known. */
  factorOf({ name, load_url }: LoadedModel): number {
    const read = this.reads.get(name);
    return read?.url === load_url && this.clock.now() - read.at <= STALE_MS ? read.factor : 1;
  }

  async readAll(): Promise<void> {
    await Promise.all(this.models().map(model => this.read(model)));
  }

  private async read({ name, load_url: url }: LoadedModel): Promise<void> {
    try {
      const load = readLoad(await pageOf(url));
      if (load === null) throw new Error('the page tells no use of a KV cache');
      this.reads.set(name, { url, factor: loadFactor(load), at: this.clock.now() });
      this.failing.delete(url);
    } catch (error) {
      if (!this.failing.has(url)) this.report('the load of a model server cannot be read', { err: error, model: name });
      this.failing.add(url);
    }
  }
}

async function pageOf(url: string): Promise<string> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(WITHIN_MS), redirect: 'error' });
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of answer.body ?? []) {
    bytes += piece.length;
    if (bytes > LONGEST_BYTES) throw new Error('the page is too long');
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}
