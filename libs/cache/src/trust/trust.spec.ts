import { MemoryJudgementLog, type LoggedJudgement } from './judgement-log';
import { Trust, type KeptQuestion } from './trust';

const BUDGET = { errors: 0.01, judgeError: 0 };
const judgement = (more: Partial<LoggedJudgement>): LoggedJudgement => ({
  route: 'r',
  partition: 'p',
  asked: 'a',
  kept: 'k',
  features: [1, 1],
  same: true,
  role: 'hit',
  source: 'model',
  ...more,
});

function trusting(isConfigured?: (route: string) => boolean): {
  trust: Trust;
  log: MemoryJudgementLog;
  evicted: KeptQuestion[];
} {
  const evicted: KeptQuestion[] = [];
  const log = new MemoryJudgementLog();
  return {
    trust: new Trust(
      log,
      () => BUDGET,
      question => evicted.push(question),
      isConfigured,
    ),
    log,
    evicted,
  };
}

describe('trust', () => {
  it('evicts an answer after two confirmed wrong reuses, and not before', () => {
    const { trust, log, evicted } = trusting();
    log.append(judgement({ same: false }));
    log.append(judgement({ same: false, kept: 'other' }));
    expect(evicted).toEqual([]);
    log.append(judgement({ same: false, features: null, source: 'feedback' }));
    expect(evicted).toEqual([{ partition: 'p', id: 'k' }]);
    expect(trust.quality()['r']).toMatchObject({ wrong_hits: 3, judged_hits: 3, evicted: 1 });
  });

  it('keeps one book for all names that callers make up', () => {
    const { trust, log, evicted } = trusting(route => route === 'r');
    for (let name = 0; name < 100; name++) trust.looked(`made-up-${name}`, true);
    trust.looked('r', false);
    for (const route of ['made-up-1', 'made-up-2']) log.append(judgement({ route, same: false }));
    expect(Object.entries(trust.quality()).map(([name, { lookups, hits }]) => [name, lookups, hits])).toEqual([
      ['other', 100, 100],
      ['r', 1, 0],
    ]);
    expect(trust.of('made-up-3')).toBe(trust.of('made-up-4'));
    expect(evicted).toEqual([{ partition: 'p', id: 'k' }]);
  });

  it('tells what it knows of each route', () => {
    const { trust, log } = trusting();
    for (let hit = 0; hit < 8; hit++) trust.looked('r', hit < 6);
    for (let hit = 0; hit < 9; hit++) log.append(judgement({ kept: `k${hit}` }));
    log.append(judgement({ kept: 'wrong', same: false }));
    log.append(judgement({ role: 'first', same: true }));
    log.append(judgement({ role: 'other', same: false }));
    expect(trust.quality()).toEqual({
      r: {
        lookups: 8,
        hits: 6,
        hit_rate: 0.75,
        judged_hits: 10,
        judged_near_misses: 2,
        same_near_misses: 1,
        wrong_hits: 1,
        precision: 0.9,
        precision_at_least: expect.closeTo(0.72, 1) as number,
        boundary: null,
        trusts_guard: true,
        evicted: 0,
      },
    });
  });

  it('keeps routes apart', () => {
    const { trust, log } = trusting();
    log.append(judgement({ route: 'one', same: false }));
    expect(trust.of('two').groups.of('a')).toBe('a');
    expect(Object.keys(trust.quality()).sort()).toEqual(['one', 'two']);
  });
});
