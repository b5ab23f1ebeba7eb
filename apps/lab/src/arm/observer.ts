import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { PRIORITIES, type Priority } from '@spillway/contracts';
import type { SpillwayProcess, SpillwayStatus } from '../processes/spillway';
import { countsSince, type Sample } from '../results/samples';
import type { Stage } from './stage';

type Baseline = Awaited<ReturnType<Stage['simulator']['stats']>>;

/** Looks at provider and Spillway again and again while a run lasts. */
export class Observer {
  readonly samples: Sample[] = [];
  /** Calls that have begun and not ended. */
  readonly open: Record<Priority, number> = { critical: 0, normal: 0, low: 0 };
  private isOver = false;
  private looking: Promise<void> = Promise.resolve();

  constructor(
    private readonly stage: Pick<Stage, 'simulator' | 'spillway'>,
    private readonly baseline: Baseline,
    private readonly startAt: number,
  ) {}

  start(everyMs: number): void {
    const look = async (): Promise<void> => {
      for (let index = 0; !this.isOver; index++) {
        await sleep(Math.max(0, this.startAt + index * everyMs - performance.now()));
        if (!this.isOver) this.samples.push(await this.sample());
      }
    };
    this.looking = look();
    // Whatever goes wrong is told by `stop`.
    this.looking.catch(() => undefined);
  }

  /** One last look, after which everything is known. */
  async stop(): Promise<void> {
    this.isOver = true;
    await this.looking;
    this.samples.push(await this.sample());
  }

  private async sample(): Promise<Sample> {
    const open = { ...this.open };
    const [stats, status] = await Promise.all([this.stage.simulator.stats(), statusOf(this.stage.spillway)]);
    return {
      ms: performance.now() - this.startAt,
      provider: mapped(stats, (name, now) => countsSince(now, this.baseline[name])),
      open,
      queued: status === null ? null : onlyClasses(status.queues),
      rates: mapped(status?.models ?? {}, (_, { learned }) => learned?.rate ?? null),
      lost: status === null ? null : Object.keys(status.parts).filter(part => status.parts[part] === 'lost'),
      process: this.stage.spillway === null ? null : processOf(this.stage.spillway.pid),
    };
  }
}

/** null: there is no Spillway, or it does not answer now. */
async function statusOf(spillway: SpillwayProcess | null): Promise<SpillwayStatus | null> {
  return spillway === null ? null : spillway.status().catch(() => null);
}

function onlyClasses(queues: SpillwayStatus['queues']): Record<Priority, number> {
  return Object.fromEntries(PRIORITIES.map(priority => [priority, queues[priority]])) as Record<Priority, number>;
}

function mapped<From, To>(table: Readonly<Record<string, From>>, convert: (name: string, value: From) => To) {
  return Object.fromEntries(Object.entries(table).map(([name, value]): [string, To] => [name, convert(name, value)]));
}

/** What Linux tells of a process; null elsewhere. */
function processOf(pid: number): Sample['process'] {
  const folder = `/proc/${pid}`;
  if (!existsSync(folder)) return null;
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`${folder}/status`, 'utf8'))?.[1];
  return { rss: Number(kilobytes ?? 0) * 1024, handles: readdirSync(`${folder}/fd`).length };
}
