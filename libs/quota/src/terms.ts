import { PRIORITIES } from '@spillway/contracts';
import {
  portion,
  type ClimbSettings,
  type GrowthSettings,
  type ModelLimits,
  type QuotaSettings,
  type Shares,
  type Terms,
} from './limits';

interface Entry {
  readonly shares: Shares;
  readonly terms: Terms;
  readonly json: string;
}

/**
 * Of the climber, for which a rate does not grow after a refusal for its slope: by default the 3 minutes in which providers
 * allow a fifth more, where the configuration does not tell the growth of this one.
 */
const SLOPE_INTERVALS = 18;
/** As many at least where it does. */
const LEAST_INTERVALS = 3;

/** For models that are not configured. */
const NO_LIMITS: ModelLimits = { limits: { rpm: 0, tpm: 0, tpd: 0, inflight: 0 }, headroom: 0 };

/** The terms of every model, worked out again only when the configuration has changed. */
export class TermsBook {
  /** By limits, and not by name: callers may name models and users without end. */
  private readonly entries = new WeakMap<ModelLimits, Entry>();

  constructor(private readonly settings: QuotaSettings) {}

  of(model: string): Terms {
    return this.entry(model).terms;
  }

  /** The terms as the scripts take them. */
  json(model: string): string {
    return this.entry(model).json;
  }

  private entry(model: string): Entry {
    const limits = this.settings.limitsOf(model) ?? NO_LIMITS;
    const shares = this.settings.shares();
    const known = this.entries.get(limits);
    if (known?.shares === shares) return known;
    const terms = termsFrom(limits, shares);
    const entry = { shares, terms, json: JSON.stringify(terms) };
    this.entries.set(limits, entry);
    return entry;
  }
}

/** Seconds for which a rate does not grow after a refusal for its slope: a period of the growth that is allowed. */
function slopeHold(growth: GrowthSettings | undefined, { interval_s }: ClimbSettings): number {
  return growth === undefined ? SLOPE_INTERVALS * interval_s : Math.max(growth.per_s, LEAST_INTERVALS * interval_s);
}

export function termsFrom({ limits, headroom, growth, climb }: ModelLimits, shares: Shares): Terms {
  const admitted = (limit: number): number => portion(1 - headroom, limit);
  return {
    limited: growth !== undefined || Object.values(limits).some(limit => limit > 0),
    rpm: admitted(limits.rpm),
    tpm: admitted(limits.tpm),
    tpd: admitted(limits.tpd),
    inflight: admitted(limits.inflight),
    ...(growth && { growth }),
    ...(climb && { climb: { ...climb, hold_ms: 1000 * slopeHold(growth, climb) } }),
    share: PRIORITIES.map(priority => shares[priority].share),
    min_share: PRIORITIES.map(priority => shares[priority].min_share),
  };
}
