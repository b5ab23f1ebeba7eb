import type { ChildProcess } from 'node:child_process';
import { QueueTimeout, type Priority, type Turn } from '@spillway/contracts';
import { startRedis, type RedisServer } from '../support/redis-server';
import {
  callOf,
  models,
  newPrefix,
  startProcess,
  spawnProcess,
  systemOf,
  turnConfig,
  until,
  type TurnOptions,
  type TurnProcess,
  type TurnSystem,
} from '../support/turns';

const OPTIONS: TurnOptions = { inflight: { m: 1 }, claimMs: 1_000 };

describe('turns across processes', () => {
  let redis: RedisServer;
  let prefix: string;
  let system: TurnSystem;
  let processes: [TurnProcess, ...TurnProcess[]];

  beforeAll(async () => {
    redis = await startRedis();
  });

  afterAll(() => redis.stop());

  beforeEach(() => {
    prefix = newPrefix();
  });

  afterEach(() => system.stop());

  const start = async (...roles: ['all' | 'gateway', ...('all' | 'gateway')[]]): Promise<void> => {
    const config = turnConfig(OPTIONS, redis.url, prefix);
    const [first, ...others] = roles;
    processes = [
      await startProcess(config, first),
      ...(await Promise.all(others.map(role => startProcess(config, role)))),
    ];
    system = systemOf(processes);
  };
  const take = (owner: number, priority: Priority, turnBy?: number): Promise<Turn> => {
    const call = callOf(priority, turnBy === undefined ? {} : { turnBy });
    const turns = processes[owner]?.turns;
    if (turns === undefined) throw new Error('no such process');
    return turns.take(call, models('m'));
  };
  const waiting = (count: number): Promise<void> => until(() => system.waiting(count));
  const use = async (waiter: Promise<Turn>): Promise<string> => {
    const turn = await waiter;
    turn.close('success');
    return turn.model.name;
  };
  const command = (...words: [string, ...string[]]): Promise<unknown> => {
    const connection = processes[0].connections?.get('commands');
    if (connection === undefined) throw new Error('no Redis');
    const [name, ...values] = words;
    return connection.call(name, ...values);
  };

  const spawn = (role: 'all' | 'gateway', ...takes: Priority[]): Promise<ChildProcess> =>
    spawnProcess({ redisUrl: redis.url, prefix, role, options: OPTIONS, takes });

  it('keeps one order for two owners and one worker', async () => {
    await start('gateway', 'gateway', 'all');
    const held = await take(0, 'normal');
    const order: string[] = [];
    const calls: Promise<void>[] = [];
    const queued: [number, Priority][] = [
      [1, 'low'],
      [0, 'normal'],
      [1, 'critical'],
      [0, 'critical'],
      [1, 'normal'],
    ];
    for (const [index, [owner, priority]] of queued.entries()) {
      calls.push(
        take(owner, priority).then(turn => {
          order.push(`${priority} of ${owner}`);
          turn.close('success');
        }),
      );
      await waiting(index + 1);
    }
    held.close('success');
    await Promise.all(calls);
    expect(order).toEqual(['critical of 1', 'critical of 0', 'normal of 0', 'normal of 1', 'low of 1']);
  });

  it('notices a turn whose signal was lost', async () => {
    await start('gateway', 'all');
    const held = await take(0, 'normal');
    const waiter = take(0, 'normal');
    await waiting(1);
    await command('CLIENT', 'KILL', 'TYPE', 'PUBSUB');
    held.close('success');
    expect(await use(waiter)).toBe('m');
    await until(async () => (await system.inflight())['m'] === 0);
  });

  it('queues again what a killed worker had reached, for another one to hand out', async () => {
    await start('gateway');
    const doomed = await spawn('all');
    const held = await take(0, 'normal');
    const waiters = [take(0, 'normal'), take(0, 'low')];
    await waiting(2);
    doomed.kill('SIGKILL');
    const other = await spawn('all');
    held.close('success');
    expect(await Promise.all(waiters.map(use))).toEqual(['m', 'm']);
    other.kill('SIGKILL');
  });

  it('enters again what Redis has forgotten', async () => {
    await start('all');
    const held = await take(0, 'normal');
    const waiter = take(0, 'normal');
    await waiting(1);
    await command('FLUSHALL');
    expect(await use(waiter)).toBe('m');
    held.close('success');
  });

  it('leaves nothing behind of an owner that was killed', async () => {
    await start('gateway', 'all');
    const owner = await spawn('gateway', 'normal', 'critical');
    await waiting(1);
    const waiter = take(0, 'normal');
    await waiting(2);
    owner.kill('SIGKILL');
    expect(await use(waiter)).toBe('m');
    await until(async () => (await system.inflight())['m'] === 0);
  });

  it('forgets the wait whose job could not be queued', async () => {
    await start('gateway', 'all');
    const held = await take(0, 'normal');
    await command('SET', `{${prefix}}:low:prioritized`, 'not a queue');
    await expect(take(0, 'low')).rejects.toThrow('WRONGTYPE');
    await command('DEL', `{${prefix}}:low:prioritized`);
    await waiting(0);
    held.close('success');
  });

  it('ends a wait in time although no worker lives', async () => {
    await start('gateway');
    const held = await take(0, 'normal');
    await expect(take(0, 'normal', Date.now() + 200)).rejects.toBeInstanceOf(QueueTimeout);
    await waiting(0);
    held.close('success');
  });
});
