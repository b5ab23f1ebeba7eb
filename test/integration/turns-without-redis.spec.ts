import type { Priority, Turn } from '@spillway/contracts';
import { LOSES_REDIS } from '../support/open-redis';
import { startRedis, type RedisServer } from '../support/redis-server';
import { callOf, models, startProcess, systemOf, turnConfig, until, type TurnProcess } from '../support/turns';

describe.each([true, false])('turns while Redis is lost, express: %s', express => {
  let redis: RedisServer;
  let owner: TurnProcess;

  beforeEach(async () => {
    redis = await startRedis();
    owner = await startProcess(turnConfig({ express, inflight: { m: 1 }, redis: LOSES_REDIS }, redis.url));
  });

  afterEach(async () => {
    await owner.stop();
    await redis.stop();
  });

  const take = (priority: Priority): Promise<Turn> => owner.turns.take(callOf(priority), models('m'));

  it.each(['SIGKILL', 'SIGSTOP'] as const)('serves who waits and who comes, in order of class (%s)', async signal => {
    const held = await take('normal');
    const waiting = take('normal');
    await until(() => systemOf([owner]).waiting(1));
    redis.kill(signal);
    // What this process has under way counts on, so that the limit holds without Redis too.
    held.close('success');
    const local = await waiting;
    const order: Priority[] = [];
    const later = (['low', 'normal', 'critical'] as const).map(async priority => {
      const turn = await take(priority);
      order.push(priority);
      turn.close('success');
    });
    await until(async () => Object.values(await owner.scheduling.depths()).every(depth => depth === 1));
    local.close('success');
    await Promise.all(later);
    expect(order).toEqual(['critical', 'normal', 'low']);
  });

  const ticketsInRedis = async (): Promise<number | undefined> =>
    owner.connections?.get('commands').hlen(`{${owner.connections.prefix}}:tickets`);

  it('goes back to Redis when it returns', async () => {
    redis.kill('SIGKILL');
    const local = await take('critical');
    expect(local.model.name).toBe('m');
    local.close('success');
    await redis.restart();
    await until(async () => {
      const turn = await take('normal');
      const shared = await ticketsInRedis().catch(() => 0);
      turn.close('success');
      return shared === 1;
    });
  });

  it('spares nothing: nobody knows what other processes want', async () => {
    const [model] = models('m');
    if (model === undefined) throw new Error('no model');
    const spare = (): Promise<Turn | null> => owner.turns.takeSpare(callOf('critical'), model);
    const spared = await spare();
    expect(spared?.model.name).toBe('m');
    // What is spared counts in the memory of this process too.
    redis.kill('SIGKILL');
    const next = take('critical');
    const waiting = (): Promise<number> => owner.scheduling.depths().then(({ critical }) => critical);
    await until(async () => (await waiting().catch(() => 0)) === 1);
    spared?.close('success', { input: 1, output: 2 });
    (await next).close('success');
    expect(await spare()).toBeNull();
  });

  it('stops in time', async () => {
    const held = await take('normal');
    const waiting = take('normal');
    redis.kill('SIGKILL');
    held.close('success');
    (await waiting).close('success');
    const startedAt = Date.now();
    await owner.stop();
    expect(Date.now() - startedAt).toBeLessThan(5_000);
  });
});
