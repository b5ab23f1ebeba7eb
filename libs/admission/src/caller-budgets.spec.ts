import { writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { ConfigStore, readEnvironment } from '@spillway/config';
import { incomingCall } from '../../../test/support/calls';
import { configurationFile } from '../../../test/support/settings';
import { CallerBudgets, isOfUser } from './caller-budgets';

const base = {
  providers: { local: { base_url: 'http://127.0.0.1:9/v1' } },
  models: { best: { provider: 'local' } },
  routes: { assistant: { chain: ['best'] } },
};
const configuration = (limits: object, users: object = {}): object => ({
  ...base,
  keys: [
    { name: 'shop', key: 'sk-shop', limits },
    { name: 'batch', key: 'sk-batch' },
  ],
  users,
});

describe('CallerBudgets', () => {
  const file = configurationFile(configuration({ rpm: 600, tpm: 1000, inflight: 3 }, { rpm: 20 }));
  const store = new ConfigStore(readEnvironment({ SPILLWAY_CONFIG: file }));
  const budgets = new CallerBudgets(store);
  const of = (name: string, user: string | null = null): readonly string[] =>
    budgets.of(incomingCall({ caller: { name }, controls: { user } }));
  const reload = (next: object): void => {
    writeFileSync(file, stringify(next));
    store.reload();
  };
  beforeEach(() => reload(configuration({ rpm: 600, tpm: 1000, inflight: 3 }, { rpm: 20 })));

  it('are those of the key and of its end user', () => {
    expect(of('shop')).toEqual(['key:shop']);
    expect(of('batch')).toEqual([]);
    expect(of('shop', '')).toEqual(['key:shop']);
    expect(of('shop', 'ann')).toEqual(['key:shop', expect.stringMatching(/^user:[\w-]{22}$/)]);
    expect(of('batch', 'ann')).toHaveLength(1);
  });

  it('are none for what we ask in the name of a key', () => {
    const caller = { name: 'shop', exempt: true };
    expect(budgets.of(incomingCall({ caller, controls: { user: 'ann' } }))).toEqual([]);
  });

  it('know each user of each key apart, and none by name', () => {
    const all = ['shop', 'batch'].flatMap(key => ['ann', 'bob', 'ann\n'].map(user => of(key, user).at(-1)));
    expect(new Set(all).size).toBe(6);
    expect(of('batch', 'ann')).toEqual(of('batch', 'ann'));
    expect(all.every(name => name !== undefined && isOfUser(name) && !/ann|bob/.test(name))).toBe(true);
  });

  it('are limited as configured, by the same values until that changes', () => {
    const [key = '', user = ''] = of('shop', 'ann');
    expect(budgets.limitsOf(key)?.limits).toEqual({ rpm: 600, tpm: 1000, tpd: 0, inflight: 3 });
    expect(budgets.limitsOf(user)?.limits).toEqual({ rpm: 20, tpm: 0, tpd: 0, inflight: 0 });
    expect(budgets.limitsOf(user)).toBe(budgets.limitsOf(of('batch', 'bob')[0] ?? ''));
    reload(configuration({ rpm: 6 }));
    expect(budgets.limitsOf(key)?.limits.rpm).toBe(6);
    expect(of('shop', 'ann')).toEqual([key]);
    reload(base);
    expect(of('shop', 'ann')).toEqual([]);
    expect([budgets.limitsOf(key), budgets.limitsOf(user)]).toEqual([null, null]);
  });
});
