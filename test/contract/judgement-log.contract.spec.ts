import { MemoryJudgementLog, type JudgementLog, type LoggedJudgement } from '../../libs/cache/src/trust/judgement-log';
import { RedisJudgementLog } from '../../libs/cache/src/trust/redis-judgement-log';
import { MemoryReuses, RedisReuses, type Reuse, type Reuses } from '../../libs/cache/src/trust/reuses';
import { until } from '../support/api-client';
import { openRedis, type OpenRedis } from '../support/open-redis';

let redis: OpenRedis;
let prefixes = 0;
const started: RedisJudgementLog[] = [];

beforeAll(async () => {
  redis = await openRedis(`judgements-${process.pid}`);
});

afterEach(() => started.splice(0).forEach(log => log.beforeApplicationShutdown()));

afterAll(() => redis.close());

const judgement = (asked: string): LoggedJudgement => ({
  route: 'r',
  partition: 'p',
  asked,
  kept: 'k',
  features: [1, 0.12345678],
  same: true,
  role: 'first',
  source: 'model',
});

function listened(log: JudgementLog): string[] {
  const heard: string[] = [];
  log.listen(({ asked }) => heard.push(asked));
  return heard;
}

function redisLog(prefix = `${redis.connections.prefix}:${prefixes++}`): RedisJudgementLog {
  const log = new RedisJudgementLog(redis.connections.get('commands'), redis.guard, prefix);
  started.push(log);
  return log;
}

describe.each<[string, () => JudgementLog]>([
  ['memory', () => new MemoryJudgementLog()],
  ['redis', () => redisLog()],
])('JudgementLog: %s', (_, make) => {
  it('tells of each judgement once, in order', async () => {
    const log = make();
    const heard = listened(log);
    if (log instanceof RedisJudgementLog) log.onModuleInit();
    for (const asked of ['a', 'b', 'c']) log.append(judgement(asked));
    await until(() => heard.join() === ['a', 'b', 'c'].join());
    log.append(judgement('d'));
    await until(() => heard.length > 3);
    expect(heard).toEqual(['a', 'b', 'c', 'd']);
  });
});

describe('the judgements of several processes', () => {
  it('reach all, also those that start later, without the texts', async () => {
    const prefix = `${redis.connections.prefix}:${prefixes++}`;
    const [one, other] = [redisLog(prefix), redisLog(prefix)];
    const [heardByOne, heardByOther] = [listened(one), listened(other)];
    one.onModuleInit();
    other.onModuleInit();
    one.append(judgement('a'));
    other.append(judgement('b'));
    await until(() => heardByOne.length === 2);
    await until(() => heardByOther.join() === heardByOne.join());
    const late = redisLog(prefix);
    const heardLate = listened(late);
    late.onModuleInit();
    await until(() => heardLate.length === 2);
    expect(heardLate).toEqual(heardByOne);
  });
});

describe.each<[string, () => Reuses]>([
  ['memory', () => new MemoryReuses()],
  [
    'redis',
    () => new RedisReuses(redis.connections.get('commands'), redis.guard, `${redis.connections.prefix}:${prefixes++}`),
  ],
])('Reuses: %s', (_, make) => {
  it('knows which answer was reused for a call', async () => {
    const reuses = make();
    const reuse: Reuse = { route: 'r', partition: 'p', asked: 'a', kept: 'k', role: 'learned' };
    reuses.remember('call-1', reuse);
    expect(await reuses.find('call-1')).toEqual(reuse);
    expect(await reuses.find('call-2')).toBeNull();
  });
});
