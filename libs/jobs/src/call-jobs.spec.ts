import { Journal, NoModelAvailable, type Errands, type JsonObject } from '@spillway/contracts';
import { configStore } from '../../../test/support/settings';
import type { Callbacks } from './callbacks';
import { CallJobs, type AsyncCall } from './call-jobs';
import type { RunningJob } from './job';
import type { JobQueues } from './job-queues';

const CONFIG = configStore({
  providers: { p: { base_url: 'http://127.0.0.1:9/v1' } },
  models: { m: { provider: 'p' } },
  keys: [{ name: 'shop', key: 'sk-shop', max_priority: 'normal' }],
});

describe('a call as a job', () => {
  const body: JsonObject = { id: 'answer' };
  const journal = new Journal();
  const run = jest.fn(async () => ({ body, outcome: 'generated' as const, journal }));
  const queues = { open: () => ({}) } as unknown as JobQueues;
  const jobs = new CallJobs(queues, { run } as unknown as Errands, {} as Callbacks, CONFIG);
  const job = (more: Partial<RunningJob<Omit<AsyncCall, 'caller'>>> = {}) => ({
    id: 'call_1',
    owner: 'shop',
    payload: {
      body: { model: 'm' },
      priority: 'low' as const,
      headers: { 'x-spillway-deadline-ms': '5' },
      requestId: 'r',
      traceId: 't',
      callbackUrl: null,
    },
    isLastAttempt: false,
    progress: null,
    signal: new AbortController().signal,
    leaving: new AbortController().signal,
    checkpoint: async () => undefined,
    ...more,
  });

  it('runs with the rights of its key today, and without a deadline', async () => {
    expect(await jobs.run(job())).toBe(body);
    expect(run).toHaveBeenLastCalledWith(
      expect.objectContaining({
        caller: { name: 'shop', priority: 'normal', max_priority: 'normal', routes: null, team: null },
        headers: { 'x-spillway-deadline-ms': '0', 'x-spillway-max-wait-ms': '600000' },
      }),
    );
    await expect(jobs.run(job({ owner: 'gone' }))).rejects.toMatchObject({ code: 'not_allowed', retryable: false });
  });

  it.each(['stale', 'fallback-response'] as const)('takes a %s answer only where there is no other try', async kind => {
    journal.degraded = kind;
    await expect(jobs.run(job())).rejects.toBeInstanceOf(NoModelAvailable);
    expect(await jobs.run(job({ isLastAttempt: true }))).toBe(body);
    journal.degraded = 'fallback-model';
    expect(await jobs.run(job())).toBe(body);
  });
});
