import type { LimitSettings } from '@spillway/contracts';
import { QuotaSettings, type GrowthSettings, type ModelLimits, type Shares } from './limits';

/** What all processes together have booked of a model. */
export interface SharedUse {
  readonly model: string;
  /** Since the model is known. */
  readonly calls: number;
  readonly tokens: number;
  /** What the last minute and the last day hold. */
  readonly minute: { readonly calls: number; readonly tokens: number };
  readonly dayTokens: number;
}

/** What to book as used by this process. */
export interface OwnUse {
  readonly model: string;
  readonly calls: number;
  readonly tokens: number;
  readonly dayTokens: number;
}

/**
 * The limits that a process keeps while it cannot ask the others: those of all, divided by the processes seen last.
 * Until then it notes its share of what all of them use, so that its windows are not empty when it is on its own.
 */
export class LocalShare extends QuotaSettings {
  /** The last two counts: one look at a server that has just come back must not make the others forgotten. */
  private counts: readonly [number, number] = [1, 1];
  private readonly seen = new Map<string, SharedUse>();
  private readonly divided = new WeakMap<ModelLimits, { readonly by: number; readonly limits: ModelLimits }>();

  constructor(private readonly settings: QuotaSettings) {
    super();
  }

  /** How many processes share the limits, as far as is known. */
  get processes(): number {
    return Math.max(...this.counts);
  }

  limitsOf(model: string): ModelLimits | null {
    const whole = this.settings.limitsOf(model);
    const by = this.processes;
    if (whole === null || by === 1) return whole;
    const known = this.divided.get(whole);
    if (known?.by === by) return known.limits;
    const limits = share(whole, by);
    this.divided.set(whole, { by, limits });
    return limits;
  }

  shares(): Shares {
    return this.settings.shares();
  }

  /** Takes in what all use; returns this process's share of what came since the last time, or of all where that is new. */
  note(processes: number, uses: readonly SharedUse[]): readonly OwnUse[] {
    this.counts = [this.counts[1], Math.max(1, processes)];
    const by = this.processes;
    return uses.map(use => {
      const before = this.seen.get(use.model);
      this.seen.set(use.model, use);
      const { model, minute, dayTokens } = use;
      if (before === undefined || before.calls > use.calls) {
        return { model, calls: minute.calls / by, tokens: minute.tokens / by, dayTokens: dayTokens / by };
      }
      const tokens = (use.tokens - before.tokens) / by;
      return { model, calls: (use.calls - before.calls) / by, tokens, dayTokens: tokens };
    });
  }
}

/** Limits of one of so many: rounded down, but at least 1 of each, or some models could not be called at all. */
function share(whole: ModelLimits, by: number): ModelLimits {
  const part = (limit: number): number => (limit === 0 ? 0 : Math.max(1, Math.floor(limit / by)));
  const { rpm, tpm, tpd, inflight } = whole.limits;
  const limits: LimitSettings = { rpm: part(rpm), tpm: part(tpm), tpd: part(tpd), inflight: part(inflight) };
  const { growth, climb } = whole;
  return {
    ...whole,
    limits,
    growth: growth && shareOfGrowth(growth, by),
    climb: climb && { ...climb, initial_rps: climb.initial_rps / by, max_rps: climb.max_rps / by },
  };
}

/** Growth keeps at least one call in its period. */
function shareOfGrowth(growth: GrowthSettings, by: number): GrowthSettings {
  return { ...growth, floor_rps: Math.max(growth.floor_rps / by, 1 / growth.per_s) };
}
