import { PRIORITIES } from '@spillway/contracts';
import { callOf, models, startProcess, testRedisUrl, turnConfig, until, type TurnProcess } from '../support/turns';

const CALLS = 1_000;
const AT_ONCE = 50;

describe.each([true, false])('turns in masses, express: %s', express => {
  let owner: TurnProcess;
  const warnings: Error[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning);

  beforeAll(async () => {
    process.on('warning', onWarning);
    owner = await startProcess(turnConfig({ express, inflight: { m: 10 } }, testRedisUrl()));
  });

  afterAll(async () => {
    await owner.stop();
    process.off('warning', onWarning);
  });

  it('ends every call, within the limit, and leaves nothing behind (E12, E16, E17)', async () => {
    const redis = owner.connections?.get('commands');
    if (redis === undefined) throw new Error('no Redis');
    let underWay = 0;
    let most = 0;
    let next = 0;
    let slowest = 0;
    const worker = async (): Promise<void> => {
      while (next < CALLS) {
        const priority = PRIORITIES[next++ % 3] ?? 'low';
        const startedAt = performance.now();
        const turn = await owner.turns.take(callOf(priority), models('m'));
        most = Math.max(most, ++underWay);
        await new Promise(resolve => setTimeout(resolve, 1));
        underWay--;
        turn.close('success', { input: 1, output: 1 });
        slowest = Math.max(slowest, performance.now() - startedAt);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    expect(most).toBe(10);
    expect(slowest).toBeLessThan(9_500);
    expect(warnings).toEqual([]);
    await until(async () => (await owner.scheduling.inflight())['m'] === 0);
    const prefix = `{${owner.connections?.prefix}}`;
    const jobs = async (): Promise<string[]> =>
      (await Promise.all(PRIORITIES.map(name => redis.keys(`${prefix}:${name}:t-*`)))).flat();
    // A worker is done with a job a moment after its turn was told.
    await until(async () => (await jobs()).length === 0);
    for (const name of PRIORITIES) expect(await redis.xlen(`${prefix}:${name}:events`)).toBeLessThan(200);
    await until(async () => (await redis.hlen(`${prefix}:tickets`)) === 0);
  });
});
