import type { ConfiguredModel } from '@spillway/config';
import type { Clock, LimitSettings, Recoveries } from '@spillway/contracts';
import { portion, QuotaSettings, RETURNING_SHARE, type ModelLimits, type Shares } from '../limits';
import type { AdaptiveLimits } from './adaptive-limits';
import type { ServerLoads } from './server-loads';
import { warmUpFactor } from './warm-up';

/** What makes the limits of a model other than those that are written. */
type LimitReason = 'configured' | 'adaptive' | 'warm-up' | 'load' | 'returning';

/** The limits of a model as they are now. */
export interface EffectiveReport {
  /** Calls at the same time, less the headroom; null: no limit. */
  readonly inflight: number | null;
  /** Empty: it has no limits. */
  readonly why: readonly LimitReason[];
  /** Latency over what is usual for calls of the same size, as it was when the limit last moved; null: not known. */
  readonly slowness: number | null;
}

/** What of the configuration it reads. */
export interface LimitSource {
  readonly current: {
    readonly models: ReadonlyMap<string, LimitedModel>;
    readonly priorities: Shares;
  };
}

type LimitedModel = ModelLimits & Pick<ConfiguredModel, 'name' | 'warmup' | 'load_url' | 'adaptive_inflight'>;

interface Factors {
  /** Null: not adaptive, or not needed. */
  readonly inflight: number | null;
  readonly warmUp: number;
  readonly load: number;
  /** When it began to come back after it was down, ms since the epoch; null: it does not. */
  readonly returnedAt: number | null;
}

/** The configured limits, made to fit what is known of a model: its age, its load, how it bears its calls. */
export class EffectiveLimits extends QuotaSettings {
  /** The same limits as long as nothing changes: whoever reads them works their terms out once. */
  private readonly made = new WeakMap<LimitedModel, { readonly factors: Factors; readonly limits: ModelLimits }>();

  constructor(
    private readonly config: LimitSource,
    private readonly adaptive: Pick<AdaptiveLimits, 'limitOf' | 'firstUseOf' | 'slownessOf'>,
    private readonly loads: Pick<ServerLoads, 'factorOf'>,
    private readonly clock: Clock,
    private readonly recoveries: Recoveries,
  ) {
    super();
  }

  limitsOf(model: string): ModelLimits | null {
    const configured = this.config.current.models.get(model);
    if (configured === undefined) return null;
    const factors = this.factorsOf(configured);
    if (isPlain(factors)) return configured;
    const known = this.made.get(configured);
    if (known !== undefined && isSame(known.factors, factors)) return known.limits;
    const limits = { ...configured, limits: effective(configured, factors), climb: climbOf(configured, factors) };
    this.made.set(configured, { factors, limits });
    return limits;
  }

  shares(): Shares {
    return this.config.current.priorities;
  }

  report(model: string): EffectiveReport | null {
    const configured = this.config.current.models.get(model);
    if (configured === undefined) return null;
    const { limits, headroom } = configured;
    const factors = this.factorsOf(configured);
    const reasons: readonly [LimitReason, boolean][] = [
      ['configured', Object.values(limits).some(limit => limit > 0)],
      ['adaptive', factors.inflight !== null],
      ['warm-up', factors.warmUp < 1],
      ['load', factors.load < 1 && limits.tpm > 0],
      ['returning', factors.returnedAt !== null],
    ];
    const inflight = portion(1 - headroom, effective(configured, factors).inflight);
    return {
      inflight: inflight === 0 ? null : inflight,
      why: reasons.flatMap(([reason, holds]) => (holds ? [reason] : [])),
      slowness: isAdaptive(configured) ? this.adaptive.slownessOf(model) : null,
    };
  }

  private factorsOf(model: LimitedModel): Factors {
    const { name, warmup, load_url } = model;
    return {
      inflight: isAdaptive(model) ? this.adaptive.limitOf(name) : null,
      warmUp: warmup === undefined ? 1 : warmUpFactor(warmup, this.adaptive.firstUseOf(name), this.clock.now()),
      load: load_url === undefined ? 1 : this.loads.factorOf({ name, load_url }),
      returnedAt: this.recoveries.since(name),
    };
  }
}

/** Whether the in-flight limit of a model follows its latency. */
export function isAdaptive({ limits, adaptive_inflight }: Pick<LimitedModel, 'limits' | 'adaptive_inflight'>): boolean {
  return adaptive_inflight && limits.inflight === 0;
}

function isPlain({ inflight, warmUp, load, returnedAt }: Factors): boolean {
  return inflight === null && warmUp === 1 && load === 1 && returnedAt === null;
}

function isSame(one: Factors, other: Factors): boolean {
  return (
    one.inflight === other.inflight &&
    one.warmUp === other.warmUp &&
    one.load === other.load &&
    one.returnedAt === other.returnedAt
  );
}

/** An adaptive limit is what the model bears, not what it promises: there is no headroom to leave. */
function effective({ limits, headroom }: ModelLimits, { inflight, warmUp, load, returnedAt }: Factors): LimitSettings {
  const share = returnedAt === null ? 1 : RETURNING_SHARE;
  const adapted = inflight === null ? null : Math.ceil(portion(share, inflight) / (1 - headroom) - 1e-9);
  return {
    rpm: portion(warmUp * share, limits.rpm),
    tpm: portion(warmUp * load * share, limits.tpm),
    tpd: portion(warmUp, limits.tpd),
    inflight: adapted ?? portion(warmUp * share, limits.inflight),
  };
}

function climbOf({ climb }: ModelLimits, { returnedAt }: Factors): ModelLimits['climb'] {
  return climb === undefined || returnedAt === null ? climb : { ...climb, returned_at: returnedAt };
}
