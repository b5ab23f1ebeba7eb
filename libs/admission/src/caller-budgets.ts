import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { ConfigStore, type Settings } from '@spillway/config';
import type { Call } from '@spillway/contracts';
import type { BudgetSettings, ModelLimits } from '@spillway/quota';

interface Known {
  readonly settings: Settings;
  readonly keys: ReadonlyMap<string, ModelLimits>;
  /** Of every end user; null: none. */
  readonly user: ModelLimits | null;
}

const KEY = 'key:';
const USER = 'user:';
const NONE: readonly string[] = [];

/** Which budgets a call is counted on, and what limits them: the configuration as it is now. */
@Injectable()
export class CallerBudgets implements BudgetSettings {
  private known: Known | null = null;

  constructor(private readonly config: ConfigStore) {}

  /** That of the key, then that of its end user; only those that are limited. */
  of({ caller, controls }: Pick<Call, 'caller' | 'controls'>): readonly string[] {
    if (caller.exempt) return NONE;
    const { keys, user } = this.current();
    const ofKey = keys.has(caller.name) ? [KEY + caller.name] : NONE;
    return user === null || !controls.user ? ofKey : [...ofKey, userBudget(caller.name, controls.user)];
  }

  limitsOf(budget: string): ModelLimits | null {
    const { keys, user } = this.current();
    return isOfUser(budget) ? user : (keys.get(budget.slice(KEY.length)) ?? null);
  }

  private current(): Known {
    const settings = this.config.current;
    if (this.known?.settings !== settings) this.known = known(settings);
    return this.known;
  }
}

export function isOfUser(budget: string): boolean {
  return budget.startsWith(USER);
}

/** What a client calls its users never enters Redis, and users of two keys are never one. */
function userBudget(key: string, user: string): string {
  return USER + createHash('sha256').update(`${key}\n${user}`).digest('base64url').slice(0, 22);
}

function known(settings: Settings): Known {
  const limited = settings.keys.filter(({ limits }) => Object.values(limits).some(limit => limit > 0));
  return {
    settings,
    keys: new Map(limited.map(({ name, limits }) => [name, budgetOf(limits)])),
    user: settings.users.rpm > 0 ? budgetOf(settings.users) : null,
  };
}

function budgetOf(limits: Partial<ModelLimits['limits']>): ModelLimits {
  return { limits: { rpm: 0, tpm: 0, tpd: 0, inflight: 0, ...limits }, headroom: 0 };
}
