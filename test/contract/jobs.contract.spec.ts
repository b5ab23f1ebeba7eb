import { setTimeout as sleep } from 'node:timers/promises';
import { InvalidRequest, QueueTimeout, UpstreamError, type JsonValue } from '@spillway/contracts';
import type { Job, RunningJob } from '@spillway/jobs';
import { until } from '../support/api-client';
import { jobWorld, QUICK_RETRY, type Deed, type JobProcess, type JobWorld } from '../support/jobs';

const WORLDS: [string, (settings?: object) => JobWorld][] = [
  ['memory', settings => jobWorld(null, settings)],
  ['redis', settings => jobWorld(process.env['SPILLWAY_TEST_REDIS_URL'] ?? '', settings)],
];

const hang: Deed = ({ signal }) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

describe.each(WORLDS)('Jobs: %s', (name, makeWorld) => {
  let world: JobWorld;

  beforeEach(() => {
    world = makeWorld();
  });
  afterEach(() => world.stop());

  const ended = async ({ queue }: JobProcess, id: string): Promise<Job> => {
    await until(async () => (await queue.find(id))?.endedAt != null);
    return (await queue.find(id)) as Job;
  };
  const add = async ({ queue }: JobProcess, payload: JsonValue = null): Promise<string> =>
    (await queue.add({ owner: 'shop', payload })).id;

  it('run, and keep their result and whose they are', async () => {
    const process = await world.process(async ({ payload, owner }) => ({ payload, owner }));
    const job = await process.queue.add({ owner: 'shop', payload: { text: 'grüezi' } });
    expect(job).toMatchObject({ status: 'queued', owner: 'shop', endedAt: null });
    expect(await ended(process, job.id)).toMatchObject({
      id: job.id,
      kind: 'test',
      owner: 'shop',
      status: 'succeeded',
      attempts: 1,
      createdAt: job.createdAt,
      result: { payload: { text: 'grüezi' }, owner: 'shop' },
    });
    await until(() => process.ended.length === 1);
    expect(process.log.lines.find(({ message }) => message === 'job ended')?.fields).toMatchObject({
      job_id: job.id,
      kind: 'test',
      key: 'shop',
      status: 'succeeded',
      attempts: 1,
    });
  });

  it('wait until somebody works, the higher classes first, and no more at a time than is said', async () => {
    const order: JsonValue[] = [];
    let most = 0;
    let now = 0;
    const process = await world.process(
      async ({ payload }) => {
        most = Math.max(most, ++now);
        order.push(payload);
        await sleep(5);
        now -= 1;
        return null;
      },
      { works: false, concurrency: 1 },
    );
    const added: string[] = [];
    for (const priority of ['low', 'normal', 'low', 'critical'] as const) {
      added.push((await process.queue.add({ owner: 'shop', payload: priority, priority })).id);
    }
    expect(await process.queue.counts()).toEqual({ queued: 4, running: 0, failed: 0 });
    const { test: report } = await process.queues.report(3);
    expect(report).toMatchObject({ queued: 4, running: 0, failed: 0 });
    expect(report?.jobs.map(({ id }) => id)).toEqual([added[3], added[1], added[0]]);
    expect(report?.jobs[0]).toEqual({
      id: added[3],
      key: 'shop',
      status: 'queued',
      attempts: 0,
      ageMs: expect.any(Number) as number,
    });
    process.queues.work();
    await until(() => order.length === 4);
    expect(order).toEqual(['critical', 'normal', 'low', 'low']);
    expect(most).toBe(1);
  });

  it('are found and cancelled among those of their kind alone', async () => {
    const process = await world.process(async () => 'answer');
    const other = process.queues.open('other', { retry: QUICK_RETRY, run: async () => null }, () => 1);
    const id = await add(process);
    await ended(process, id);
    expect(await other.find(id)).toBeNull();
    expect(await other.cancel(id)).toBeNull();
  });

  it('are added once by one id', async () => {
    const process = await world.process(async () => null, { works: false });
    await process.queue.add({ owner: 'shop', payload: 1, id: 'test_one' });
    await process.queue.add({ owner: 'shop', payload: 2, id: 'test_one' });
    expect((await process.queue.counts()).queued).toBe(1);
  });

  it.each(['wait', 'meta', '1', 'test_', 'test_unknown', 'a:b', '../x', `test_${'x'.repeat(300)}`])(
    'that are not there are not found: %s',
    async id => {
      const process = await world.process(async () => null);
      await add(process);
      expect(await process.queue.find(id)).toBeNull();
      expect(await process.queue.cancel(id)).toBeNull();
      expect(await process.queue.retry(id)).toBeNull();
    },
  );

  it('are tried again after a failure, know what was noted, and fail for good at last', async () => {
    const seen: Pick<RunningJob<JsonValue>, 'isLastAttempt' | 'progress'>[] = [];
    const process = await world.process(async job => {
      seen.push({ isLastAttempt: job.isLastAttempt, progress: job.progress });
      await job.checkpoint({ done: seen.length });
      throw new UpstreamError('The model failed to answer.');
    });
    const id = await add(process);
    expect(await ended(process, id)).toMatchObject({
      status: 'failed',
      attempts: 3,
      progress: { done: 3 },
      result: null,
      error: { message: 'The model failed to answer.', type: 'api_error', code: 'upstream_error', param: null },
    });
    expect(seen).toEqual([
      { isLastAttempt: false, progress: null },
      { isLastAttempt: false, progress: { done: 1 } },
      { isLastAttempt: true, progress: { done: 2 } },
    ]);
    await until(() => process.ended.length === 1);
    expect(await process.queue.counts()).toEqual({ queued: 0, running: 0, failed: 1 });
  });

  it('whose turn it was not wait on, however often', async () => {
    let runs = 0;
    const process = await world.process(async () => {
      if (++runs <= QUICK_RETRY.attempts + 2) throw new QueueTimeout('No turn in time.');
      return 'answered';
    });
    expect(await ended(process, await add(process))).toMatchObject({ status: 'succeeded', attempts: 1 });
  });

  it('are not tried again where that cannot help', async () => {
    let runs = 0;
    const process = await world.process(async () => {
      runs += 1;
      throw new InvalidRequest('No.');
    });
    expect(await ended(process, await add(process))).toMatchObject({ status: 'failed', attempts: 1 });
    expect(runs).toBe(1);
  });

  it('are not tried again before the time that was asked for', async () => {
    const at: number[] = [];
    const process = await world.process(async () => {
      at.push(Date.now());
      if (at.length === 1) throw new UpstreamError('Later.', { retryAfterMs: 400 });
      return null;
    });
    await ended(process, await add(process));
    expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThanOrEqual(395);
  });

  it('that failed for good are listed, newest first, and can begin anew', async () => {
    let broken = true;
    const process = await world.process(async ({ payload }) => {
      if (broken) throw new InvalidRequest('No.');
      return payload;
    });
    const first = await add(process, 'first');
    await until(async () => (await process.queue.counts()).failed === 1);
    await sleep(5);
    const second = await add(process, 'second');
    await until(async () => (await process.queue.counts()).failed === 2);
    expect((await process.queues.failed(10)).map(({ id }) => id)).toEqual([second, first]);
    expect(await process.queue.failed(1)).toMatchObject([{ id: second, status: 'failed', owner: 'shop' }]);

    broken = false;
    const [, failed] = await process.queue.failed(2);
    const again = await process.queues.retry(first);
    // Null, unless it has already ended anew.
    expect([again?.id, failed?.id, again?.endedAt === failed?.endedAt]).toEqual([first, first, false]);
    expect(await ended(process, first)).toMatchObject({ status: 'succeeded', result: 'first' });
    expect(await process.queues.retry(first)).toBeNull();
    expect(await process.queue.failed(10)).toMatchObject([{ id: second }]);
  });

  it('that wait can be cancelled, and never run', async () => {
    let runs = 0;
    const process = await world.process(async () => ++runs, { works: false });
    const id = await add(process, 'deed');
    expect(await process.queue.cancel(id)).toMatchObject({ id, status: 'cancelled' });
    expect(await process.queue.cancel(id)).toMatchObject({ id, status: 'cancelled' });
    expect(process.cancelled).toEqual(['deed']);
    expect(await process.queue.find(id)).toMatchObject({ status: 'cancelled' });
    process.queues.work();
    await sleep(300);
    expect(runs).toBe(0);
    expect(await process.queue.counts()).toEqual({ queued: 0, running: 0, failed: 0 });
  });

  it('that run can be cancelled: they are told, and nothing follows', async () => {
    let told: unknown;
    const process = await world.process(async job => {
      job.signal.addEventListener('abort', () => (told = job.signal.reason));
      return hang(job);
    });
    const id = await add(process, 'deed');
    await until(async () => (await process.queue.find(id))?.status === 'running');
    expect(await process.queue.cancel(id)).toMatchObject({ status: 'cancelled' });
    expect(process.cancelled).toEqual(['deed']);
    await until(() => told !== undefined);
    expect(told).toMatchObject({ outcome: 'client-gone' });
    await until(async () => (await process.queue.counts()).running === 0);
    expect(await process.queue.counts()).toEqual({ queued: 0, running: 0, failed: 0 });
    expect(await process.queue.find(id)).toMatchObject({ status: 'cancelled', result: null });
    expect(process.ended).toEqual([]);
  });

  it('that have ended cannot be cancelled', async () => {
    const process = await world.process(async () => 'answer');
    const id = await add(process);
    await ended(process, id);
    expect(await process.queue.cancel(id)).toMatchObject({ status: 'succeeded', result: 'answer' });
    expect(process.cancelled).toEqual([]);
  });

  it('are given up when they are too old', async () => {
    await world.stop();
    world = makeWorld({ max_age_s: 1 });
    const process = await world.process(async () => {
      throw new QueueTimeout('No turn in time.', { retryAfterMs: 300 });
    });
    expect(await ended(process, await add(process))).toMatchObject({
      status: 'failed',
      error: { code: 'queue_timeout' },
    });
  });

  it('are forgotten when their time is over', async () => {
    await world.stop();
    world = makeWorld({ result_ttl_s: 1 });
    const process = await world.process(async ({ payload }) => {
      if (payload === 'bad') throw new InvalidRequest('No.');
      return payload;
    });
    const ids = await Promise.all([add(process, 'good'), add(process, 'bad')]);
    const statuses = await Promise.all(ids.map(async id => (await ended(process, id)).status));
    expect(statuses).toEqual(['succeeded', 'failed']);
    for (const id of ids) {
      await until(async () => (await process.queue.find(id)) === null);
      expect(await process.queue.retry(id)).toBeNull();
    }
    expect(await process.queue.failed(10)).toEqual([]);
    // BullMQ lets go of what it still holds at the next failure.
    if (name === 'memory') await until(async () => (await process.queue.counts()).failed === 0);
  });

  it('that can stop between two steps let go at once when their process stops, and have not failed', async () => {
    const process = await world.process(async job => {
      for (let step = 1; ; step++) {
        await job.checkpoint({ step });
        job.leaving.throwIfAborted();
        await sleep(20);
      }
    });
    const id = await add(process);
    await until(async () => (await process.queue.find(id))?.progress != null);
    const stoppedAt = Date.now();
    await process.queues.stop(20_000);
    expect(Date.now() - stoppedAt).toBeLessThan(10_000);
    expect(process.log.lines.filter(({ message }) => message === 'job attempt failed')).toEqual([]);
  });

  it('that run may finish when their process stops', async () => {
    const process = await world.process(async () => sleep(200, 'answer'));
    const id = await add(process);
    await until(async () => (await process.queue.find(id))?.status === 'running');
    await process.queues.stop(5_000);
    expect(process.ended).toMatchObject([{ id, status: 'succeeded', result: 'answer' }]);
  });

  if (name === 'redis') {
    it('are run by any process, cancelled by any other, and seen by all', async () => {
      const [asking, working] = [await world.process(hang, { works: false }), await world.process(hang)];
      const id = await add(asking);
      await until(async () => (await asking.queue.find(id))?.status === 'running');
      await asking.queue.cancel(id);
      await until(async () => (await working.queue.counts()).running === 0);
      expect(await working.queue.find(id)).toMatchObject({ status: 'cancelled' });
    });

    it('go on in another process when theirs stops', async () => {
      const stopping = await world.process(hang);
      const id = await add(stopping);
      await until(async () => (await stopping.queue.find(id))?.status === 'running');
      await stopping.stop(50);
      const other = await world.process(async () => 'answer');
      expect(await ended(other, id)).toMatchObject({ status: 'succeeded', attempts: 1, result: 'answer' });
    });

    it('that have an end already are not run again', async () => {
      let runs = 0;
      const first = await world.process(async () => ++runs, { works: false });
      const id = await add(first);
      const { stores } = first.queue as unknown as { stores: { ends: { first(job: Job): Promise<Job> } } };
      const job = (await first.queue.find(id)) as Job;
      await stores.ends.first({ ...job, status: 'succeeded', result: 'kept', endedAt: Date.now() });
      first.queues.work();
      await until(() => first.ended.length === 1);
      expect(first.ended).toMatchObject([{ id, result: 'kept' }]);
      expect(runs).toBe(0);
    });
  }
});
