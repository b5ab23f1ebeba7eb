import { Inject, Injectable } from '@nestjs/common';
import { RateLimitExceeded, type Call, type CallerLimit } from '@spillway/contracts';
import { tokensOf, TokenEstimator, type BudgetLimit, type BudgetRefusal, type BudgetUse } from '@spillway/quota';
import { Metrics } from '@spillway/telemetry';
import { Admissions, type CallerPermit } from './admissions';
import { CallerBudgets, isOfUser } from './caller-budgets';

/** Counts refusals. */
interface RefusalMeter {
  callerRefused(policy: string): void;
}

/** What a caller is told at most: its limits are of a minute, though they are counted a fraction of a second longer. */
const MINUTE_MS = 60_000;

/** What a limit counts, as a label and in words. */
const COUNTED: Readonly<Record<BudgetLimit, readonly [label: string, words: string]>> = {
  rpm: ['requests', 'requests a minute'],
  tpm: ['tokens', 'tokens a minute'],
  tpd: ['tokens', 'tokens a day'],
  inflight: ['inflight', 'calls at the same time'],
};

/** Keeps a key, and each end user of it, to what they may use. */
@Injectable()
export class CallerLimits {
  constructor(
    private readonly budgets: CallerBudgets,
    private readonly admissions: Admissions,
    private readonly estimator: TokenEstimator,
    @Inject(Metrics) private readonly meter: RefusalMeter,
  ) {}

  /**
   * Counts a call on the budgets of its caller, all of them.
   * @throws RateLimitExceeded
   */
  async admit(call: Call, budgets: readonly string[]): Promise<CallerPermit> {
    const decision = await this.admissions.admit(budgets, this.tokensOf(call, budgets));
    const { uses } = decision;
    call.journal.callerLimits = { requests: tightest(uses, 'rpm'), tokens: tightest(uses, 'tpm') };
    if (decision.kind === 'admitted') return decision.permit;
    throw this.refusal(call, decision.binds);
  }

  private tokensOf(call: Call, budgets: readonly string[]): number {
    const [model] = call.models;
    const counted = budgets.some(budget => (this.budgets.limitsOf(budget)?.limits.tpm ?? 0) > 0);
    return counted && model !== undefined ? tokensOf(this.estimator.predict(call, model)) : 0;
  }

  private refusal({ journal }: Call, { budget, limit, inMs }: BudgetRefusal): RateLimitExceeded {
    const [label, words] = COUNTED[limit];
    const [who, whose] = isOfUser(budget) ? ['user', 'end user'] : ['key', 'API key'];
    const policy = `${who}-${label}`;
    this.meter.callerRefused(policy);
    journal.note({ kind: 'caller-limit', policy, inMs });
    // Absent after a reload that took the limit away in the meantime.
    const most = this.budgets.limitsOf(budget)?.limits[limit];
    const what = most === undefined ? words : `${words}: ${most}`;
    return new RateLimitExceeded(`The limit of this ${whose} is reached (${what}).`, {
      retryAfterMs: inMs === null ? null : Math.min(inMs, MINUTE_MS),
    });
  }
}

/** The limit of this kind with the least left, of the key or of the user. */
function tightest(uses: readonly BudgetUse[], kind: BudgetLimit): CallerLimit | null {
  const limits = uses
    .filter(({ limit }) => limit === kind)
    .map(({ admitted, used, emptyInMs }) => ({
      limit: admitted,
      remaining: Math.max(0, admitted - used),
      resetMs: Math.min(emptyInMs, MINUTE_MS),
    }));
  return limits.reduce<CallerLimit | null>(
    (least, one) => (least === null || one.remaining < least.remaining ? one : least),
    null,
  );
}
