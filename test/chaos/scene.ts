import { setTimeout as sleep } from 'node:timers/promises';
import type { LoggedRequest } from '../../apps/simulator/src/request-log';
import { startInstallation, type Installation } from '../support/installation';
import { LOSES_REDIS } from '../support/open-redis';
import type { SpillwayProcess } from '../support/spillway';
import type { Span } from './promises';

const MODELS = ['first', 'second', 'spare'] as const;
/** The ones that faults strike; what is promised to CRITICAL holds while one of its chain is well. */
export const FRAIL = ['first', 'second'] as const;
export const INFLIGHT = 4;
export const LEASE_MS = 4_000;
/** Until every process knows of a new one: it looks once a second, and a busy machine is late. */
const KNOWN_MS = 3_000;
/** A model that does not load makes every call wait as long. */
const LOADING_MS = 1_200;
export const USUAL_LATENCY = { first_token_ms: 100, tokens_per_s: 2_000 };

const frail = {
  provider: 'simulator',
  limits: { inflight: INFLIGHT },
  headroom: 0,
  climb: { mode: 'off' },
  timeout_ms: LOADING_MS,
  first_token_timeout_ms: LOADING_MS,
  breaker: { window_s: 10, min_requests: 10, consecutive_failures: 5, open_min_s: 1, open_max_s: 2 },
};

const configuration = {
  redis: LOSES_REDIS,
  models: { first: frail, second: frail, spare: { provider: 'simulator' } },
  routes: {
    assistant: {
      chain: [...MODELS],
      chain_by_priority: { normal: [...FRAIL], low: ['first'] },
      fallback_response: { low: 'Please come back later.' },
      cache: { exact: false, semantic: false },
    },
  },
  priorities: { critical: { max_wait_ms: 10_000 }, normal: { max_wait_ms: 4_000 }, low: { max_wait_ms: 4_000 } },
  scheduling: { lease_ms: LEASE_MS, claim_ms: 1_000 },
};

/** A gateway over its lives. */
interface Place {
  process: SpillwayProcess;
  /** When it was dead or stood still. */
  readonly trouble: Span[];
  isDown: boolean;
}

/** Two gateways and a worker on one Redis that keeps its data, and the models that they call. */
export class Scene {
  /** When a process began, and when Redis was away. */
  readonly starts: Span[] = [];
  readonly withoutRedis: Span[] = [];
  /** When Redis came back without its data, milliseconds since the epoch. */
  readonly wipes: number[] = [];
  private readonly dead: SpillwayProcess[] = [];

  private constructor(
    readonly installation: Installation,
    readonly gateways: readonly [Place, Place],
    readonly worker: Place,
  ) {}

  static async start(): Promise<Scene> {
    const installation = await startInstallation({ durable: true }, { logEntries: 100_000 });
    for (const model of MODELS) installation.simulator.configure(model, { latency: USUAL_LATENCY });
    const [one, other, worker] = await Promise.all(
      (['gateway', 'gateway', 'worker'] as const).map(role => installation.start(role, configuration)),
    );
    if (one === undefined || other === undefined || worker === undefined) throw new Error('a process is missing');
    return new Scene(installation, [placeOf(one), placeOf(other)], placeOf(worker));
  }

  /** Processes that began while Redis was away, or had not been seen by all when it went. */
  get lonelyStarts(): number {
    const isLonely = ({ from, to }: Span): boolean =>
      this.withoutRedis.some(away => away.from <= to + KNOWN_MS && away.to >= from);
    return this.starts.filter(isLonely).length;
  }

  get processes(): readonly SpillwayProcess[] {
    return [...this.gateways, this.worker].map(({ process }) => process);
  }

  /** What every gateway has logged of the calls that ended in it, also those that were killed. */
  callLines(): readonly Record<string, unknown>[] {
    const all = [...this.dead, ...this.gateways.map(({ process }) => process)];
    return all.flatMap(process => process.logLines()).filter(line => 'outcome' in line);
  }

  /** Kills a process; after a while another takes its place. */
  async replace(place: Place, role: 'gateway' | 'worker', afterMs: number): Promise<void> {
    const from = Date.now();
    place.isDown = true;
    this.dead.push(place.process);
    place.process.kill('SIGKILL');
    await place.process.ended();
    place.trouble.push({ from, to: Date.now() });
    await sleep(afterMs);
    const startsAt = Date.now();
    place.process = await this.installation.start(role, configuration);
    place.isDown = false;
    this.starts.push({ from: startsAt, to: Date.now() });
  }

  /** Has a process stand still for a while, as one does whose event loop is blocked. */
  async freeze({ process, trouble }: Place, forMs: number): Promise<void> {
    const from = Date.now();
    process.kill('SIGSTOP');
    await sleep(forMs);
    process.kill('SIGCONT');
    trouble.push({ from, to: Date.now() });
  }

  /** What the models were asked, but for probes of Spillway's own. */
  upstreamCalls(): readonly (LoggedRequest & { readonly marker: string })[] {
    return this.installation.simulator.requests().flatMap(request => {
      const marker = /call-\d+-\d+/.exec(request.body)?.[0];
      return marker === undefined ? [] : [{ ...request, marker }];
    });
  }

  stop(): Promise<void> {
    return this.installation.stop();
  }
}

function placeOf(process: SpillwayProcess): Place {
  return { process, trouble: [], isDown: false };
}
