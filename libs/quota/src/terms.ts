import { PRIORITIES } from '@spillway/contracts';
import { portion, type ModelLimits, type QuotaSettings, type Shares, type Terms } from './limits';

interface Entry {
  readonly limits: ModelLimits | null;
  readonly shares: Shares;
  readonly terms: Terms;
  readonly json: string;
}

/** The terms of every model, worked out again only when the configuration has changed. */
export class TermsBook {
  private readonly entries = new Map<string, Entry>();

  constructor(private readonly settings: QuotaSettings) {}

  of(model: string): Terms {
    return this.entry(model).terms;
  }

  /** The terms as the scripts take them. */
  json(model: string): string {
    return this.entry(model).json;
  }

  private entry(model: string): Entry {
    const limits = this.settings.limitsOf(model);
    const shares = this.settings.shares();
    const known = this.entries.get(model);
    if (known !== undefined && known.limits === limits && known.shares === shares) return known;
    const terms = termsFrom(limits, shares);
    const entry = { limits, shares, terms, json: JSON.stringify(terms) };
    this.entries.set(model, entry);
    return entry;
  }
}

export function termsFrom(model: ModelLimits | null, shares: Shares): Terms {
  const admitted = (limit: number): number => portion(1 - (model?.headroom ?? 0), limit);
  const { limits, growth } = model ?? {};
  return {
    limited: growth !== undefined || (limits !== undefined && Object.values(limits).some(limit => limit > 0)),
    rpm: admitted(limits?.rpm ?? 0),
    tpm: admitted(limits?.tpm ?? 0),
    tpd: admitted(limits?.tpd ?? 0),
    inflight: admitted(limits?.inflight ?? 0),
    ...(growth && { growth }),
    share: PRIORITIES.map(priority => shares[priority].share),
    min_share: PRIORITIES.map(priority => shares[priority].min_share),
  };
}
