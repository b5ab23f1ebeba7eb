import { waitMs } from '../callers/backoff-caller';
import type { Reply } from '../callers/caller';
import type { SdkArm } from '../scenario/schema';
import type { Random } from '../../../simulator/src/random';
import type { PlannedCall } from '../workload/plan';
import { bodyOf, type VirtualCaller } from './virtual-caller';
import type { VirtualAnswer, VirtualProvider } from './virtual-provider';
import type { VirtualTime } from './virtual-time';

type Failure = Extract<VirtualAnswer, { kind: 'failure' }>;

/** How a client repeats calls that failed. */
export interface Patience {
  /** Tries in all. */
  readonly attempts: number;
  /** Milliseconds before the try that follows `retry` earlier ones. */
  waitMs(retry: number, failure: Failure): number;
}

const WINDOW_MS = 60_000;
/** Of the OpenAI SDK: it heeds what a provider asks for up to a minute, else doubles half a second up to eight. */
const SDK_LONGEST_WISH_MS = 60_000;
const SDK_BACKOFF = { attempts: 1, base_ms: 500, factor: 2, most_ms: 8000, jitter: 'none', jitter_share: 0 } as const;
const SDK_JITTER = 0.25;

export function sdkPatience({ retries }: SdkArm, random: Random): Patience {
  return {
    attempts: retries + 1,
    waitMs: (retry, { observed: { retryAfterMs } }) =>
      retryAfterMs !== null && retryAfterMs > 0 && retryAfterMs <= SDK_LONGEST_WISH_MS
        ? retryAfterMs
        : waitMs(SDK_BACKOFF, retry, random) * (1 - SDK_JITTER * random()),
  };
}

/** A client that calls a model itself, perhaps behind a limiter of fixed windows. */
export class VirtualClient implements VirtualCaller {
  private window = 0;
  private used = 0;

  /** `perWindow`: calls that its limiter lets pass in each minute; null: it has none. */
  constructor(
    private readonly time: VirtualTime,
    private readonly provider: VirtualProvider,
    private readonly model: string,
    private readonly patience: Patience,
    private readonly perWindow: number | null = null,
  ) {}

  call(planned: PlannedCall, done: (reply: Reply) => void): () => void {
    const body = bodyOf(planned);
    let leave = (): void => undefined;
    let isGone = false;
    const attempt = (tries: number): void => {
      if (isGone) return;
      leave = this.provider.call(this.model, body, answer => {
        if (answer.kind === 'answer') return done({ kind: 'answer', text: '', tier: 'generated', tries });
        if (tries >= this.patience.attempts) return done({ kind: 'error', status: answer.status, tries });
        this.time.after(this.patience.waitMs(tries - 1, answer), () => attempt(tries + 1));
      });
    };
    this.enter(
      () => isGone,
      () => attempt(1),
    );
    return () => {
      isGone = true;
      leave();
    };
  }

  private enter(isGone: () => boolean, pass: () => void): void {
    if (isGone()) return;
    if (this.perWindow === null) return pass();
    const window = Math.floor(this.time.elapsedMs / WINDOW_MS);
    if (window !== this.window) [this.window, this.used] = [window, 0];
    if (this.used >= this.perWindow)
      return this.time.after((window + 1) * WINDOW_MS - this.time.elapsedMs, () => this.enter(isGone, pass));
    this.used += 1;
    pass();
  }
}
