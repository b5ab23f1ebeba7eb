import { NoModelAvailable, SystemClock, type JsonValue } from '@spillway/contracts';
import { DEFAULT_RETRY } from './after-failure';
import type { Backlog, Taken } from './backlog';
import type { Job, JobHandler } from './job';
import { JobRunner } from './job-runner';
import { MemoryJobEnds } from './memory-job-ends';

describe('a job that this process has taken', () => {
  const clock = new SystemClock();
  const ended: Job[] = [];
  const runs: boolean[] = [];
  let failure: Error | null = null;
  const handler: JobHandler<JsonValue> = {
    retry: { ...DEFAULT_RETRY, attempts: 3 },
    run: async ({ isLastAttempt }) => {
      runs.push(isLastAttempt);
      if (failure !== null) throw failure;
      return 'answer';
    },
    ended: async job => void ended.push(job),
  };
  const runner = new JobRunner('test', handler, {
    backlog: {} as Backlog,
    ends: new MemoryJobEnds(clock, () => 60),
    clock,
    oldestMs: () => 60_000,
    onEnd: () => undefined,
    onFailure: () => undefined,
  });
  const taken = (id: string, more: Partial<Taken> = {}): Taken => ({
    entry: { id, owner: 'shop', priority: 'low', createdAt: clock.now(), payload: null },
    attempt: 1,
    deaths: 0,
    progress: null,
    checkpoint: async () => undefined,
    ...more,
  });
  beforeEach(() => {
    ended.splice(0);
    runs.splice(0);
    failure = null;
  });

  it('is run while few processes have died with it, and given up after ten', async () => {
    expect(await runner.run(taken('test_few', { deaths: 10 }))).toEqual({ kind: 'done' });
    expect(await runner.run(taken('test_many', { deaths: 11 }))).toEqual({ kind: 'dead' });
    expect(runs).toHaveLength(1);
    expect(ended.map(({ status, error }) => [status, error?.code ?? null])).toEqual([
      ['succeeded', null],
      ['failed', 'no_model_available'],
    ]);
  });

  it('knows its last attempt, and has no other after it', async () => {
    failure = new NoModelAvailable('busy');
    expect(await runner.run(taken('test_a', { attempt: 2 }))).toMatchObject({ kind: 'again', counted: true });
    expect(await runner.run(taken('test_a', { attempt: 3 }))).toEqual({ kind: 'dead' });
    expect(runs).toEqual([false, true]);
  });

  it('that has an end is not run again, but told of once more', async () => {
    await runner.run(taken('test_b'));
    failure = new NoModelAvailable('busy');
    expect(await runner.run(taken('test_b', { attempt: 2 }))).toEqual({ kind: 'done' });
    expect([runs.length, ended.length]).toEqual([1, 2]);
  });
});
