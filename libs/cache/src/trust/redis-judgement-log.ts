import type { BeforeApplicationShutdown, OnModuleInit } from '@nestjs/common';
import type { Redis, RedisGuard } from '@spillway/redis';
import { JudgementLog, type LoggedJudgement } from './judgement-log';

/** Judgements that are kept, about: 400 bytes each. */
const KEPT = 20_000;
const KEPT_S = 30 * 86_400;
const READ_EVERY_MS = 1_000;
const READ_AT_ONCE = 200;

/**
 * The judgements of all processes on one Redis, a stream. Each process learns by reading, its own ones too, so that
 * all learn the same in the same order, and a new one learns what the others know.
 */
export class RedisJudgementLog extends JudgementLog implements OnModuleInit, BeforeApplicationShutdown {
  private readonly key: string;
  private lastRead = '-';
  private timer: NodeJS.Timeout | undefined;
  private reading = false;

  constructor(
    private readonly connection: Redis,
    private readonly guard: Pick<RedisGuard, 'run'>,
    prefix: string,
  ) {
    super();
    this.key = `${prefix}:cache:judgements`;
  }

  append(judgement: LoggedJudgement): void {
    const add = this.guard.run(async () => {
      await this.connection.xadd(this.key, 'MAXLEN', '~', KEPT, '*', 'judgement', JSON.stringify(judgement, short));
      await this.connection.expire(this.key, KEPT_S);
    });
    void add.catch(() => undefined);
  }

  onModuleInit(): void {
    this.timer = setInterval(() => void this.readOn(), READ_EVERY_MS).unref();
    void this.readOn();
  }

  beforeApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /** A lost Redis is reported by its guard; the next reading comes soon. */
  private async readOn(): Promise<void> {
    if (this.reading) return;
    this.reading = true;
    try {
      while (await this.readSome());
    } catch {
      // The judgements stay where they are.
    } finally {
      this.reading = false;
    }
  }

  /** Whether there may be more. */
  private async readSome(): Promise<boolean> {
    const since = this.lastRead === '-' ? '-' : `(${this.lastRead}`;
    const entries = await this.guard.run(() => this.connection.xrange(this.key, since, '+', 'COUNT', READ_AT_ONCE));
    for (const [id, [, text]] of entries) {
      this.lastRead = id;
      const judgement = parsed(text);
      if (judgement !== null) this.listener(judgement);
    }
    return entries.length === READ_AT_ONCE;
  }
}

function short(_: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toFixed(4)) : value;
}

/** Null where another version wrote something else. */
function parsed(text: string | undefined): LoggedJudgement | null {
  try {
    const value = JSON.parse(text ?? '') as Partial<LoggedJudgement>;
    return typeof value.route === 'string' && typeof value.kept === 'string' && typeof value.same === 'boolean'
      ? (value as LoggedJudgement)
      : null;
  } catch {
    return null;
  }
}
