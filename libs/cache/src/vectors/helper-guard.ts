import type { Logger } from '@spillway/telemetry';

export type HelperState = 'ok' | 'lost';

export interface GuardOptions {
  /** What metrics, health and the log call the helper. */
  readonly name: 'embedder' | 'qdrant';
  /** Milliseconds that a use may take. */
  readonly deadlineMs: number;
  /** Failures one after the other after which the helper is left alone. */
  readonly failures: number;
  /** A cheap use that tells whether the helper is back. */
  readonly probe: (signal: AbortSignal) => Promise<unknown>;
  readonly probeEveryMs: number;
  /** `always` finds a loss without traffic; `lost` asks nothing of a helper that costs money while it works. */
  readonly probeWhen: 'always' | 'lost';
  /** What costs nothing even then, and fails when the helper is gone: its loss shows without traffic. */
  readonly reach?: (signal: AbortSignal) => Promise<unknown>;
}

type State = { readonly kind: 'ok'; readonly failures: number } | { readonly kind: 'lost' };

/** A helper that did not help; for the call it is a miss. The message holds no text, key or address. */
export class HelperUnavailable extends Error {
  readonly code = 'helper_unavailable';

  constructor(
    readonly helper: string,
    readonly reason: string,
  ) {
    super(`${helper}: ${reason}`);
    this.name = 'HelperUnavailable';
  }
}

/**
 * The deadline and the breaker in front of a helper outside of this process. After some failures in a row uses fail at
 * once, until a probe succeeds; a failure is looked into at once. The log says so once for each change.
 */
export class HelperGuard {
  private current: State = { kind: 'ok', failures: 0 };
  private readonly listeners = new Set<(state: HelperState) => void>();
  private readonly timer: NodeJS.Timeout;
  private probing = false;

  constructor(
    private readonly options: GuardOptions,
    private readonly log: Pick<Logger, 'info' | 'warn'>,
  ) {
    this.timer = setInterval(() => this.look(), options.probeEveryMs).unref();
  }

  get name(): GuardOptions['name'] {
    return this.options.name;
  }

  get state(): HelperState {
    return this.current.kind;
  }

  onStateChange(listener: (state: HelperState) => void): void {
    this.listeners.add(listener);
  }

  /**
   * Runs one use, whose signal aborts at the deadline.
   * @throws HelperUnavailable
   */
  async run<T>(use: (signal: AbortSignal) => Promise<T>, deadlineMs: number = this.options.deadlineMs): Promise<T> {
    if (this.current.kind === 'lost') throw new HelperUnavailable(this.options.name, 'left alone');
    const result = await this.attempt(use, deadlineMs);
    this.succeeded();
    return result;
  }

  close(): void {
    clearInterval(this.timer);
    this.listeners.clear();
  }

  private async attempt<T>(use: (signal: AbortSignal) => Promise<T>, deadlineMs: number): Promise<T> {
    const abort = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new HelperUnavailable(this.options.name, 'too late')), deadlineMs);
    });
    try {
      return await Promise.race([use(abort.signal), late]);
    } catch (error) {
      throw this.failed(error);
    } finally {
      clearTimeout(timer);
      abort.abort();
    }
  }

  private look(): void {
    const { probeWhen, reach, deadlineMs } = this.options;
    if (probeWhen === 'always' || this.state === 'lost') void this.probe();
    else reach?.(AbortSignal.timeout(deadlineMs)).catch(() => this.probe());
  }

  private async probe(): Promise<void> {
    if (this.probing) return;
    this.probing = true;
    const isThere = await this.attempt(this.options.probe, this.options.deadlineMs).then(
      () => true,
      () => false,
    );
    this.probing = false;
    // Who answers a probe may still be too slow for a use: the failures of uses in a row go on counting.
    if (isThere && this.state === 'lost') this.succeeded();
  }

  private succeeded(): void {
    const before = this.current.kind;
    this.current = { kind: 'ok', failures: 0 };
    if (before === 'ok') return;
    this.log.info({ part: this.options.name }, 'a helper is back');
    this.tell();
  }

  private failed(error: unknown): HelperUnavailable {
    const { name, failures: most } = this.options;
    const failure = error instanceof HelperUnavailable ? error : new HelperUnavailable(name, reasonOf(error));
    if (this.current.kind === 'lost') return failure;
    const failures = this.current.failures + 1;
    this.current = failures < most ? { kind: 'ok', failures } : { kind: 'lost' };
    if (this.current.kind === 'lost') {
      this.log.warn({ part: name, reason: failure.reason }, 'a helper is lost and left alone until it answers again');
      this.tell();
    } else {
      // At once rather than at the next turn, so that a loss soon shows.
      setImmediate(() => void this.probe()).unref();
    }
    return failure;
  }

  private tell(): void {
    for (const listener of this.listeners) listener(this.state);
  }
}

/** What may be said of an error of a client, whose message may hold addresses and texts. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if ('kind' in error && typeof error.kind === 'string') return error.kind;
  if ('status' in error && typeof error.status === 'number') return `status ${error.status}`;
  const cause: unknown = error.cause;
  if (typeof cause === 'object' && cause !== null && 'code' in cause) return String(cause.code);
  return error.name;
}
