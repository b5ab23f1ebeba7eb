import type { SpillwayProcess } from './spillway';

interface Status {
  readonly queues: Readonly<Record<'critical' | 'normal' | 'low', number>>;
  readonly models: Readonly<Record<string, { readonly inflight: number }>>;
}

/** What `GET /admin/status` says. */
async function statusOf({ url }: Pick<SpillwayProcess, 'url'>): Promise<Status> {
  const response = await fetch(`${url}/admin/status`);
  return (await response.json()) as Status;
}

/** Calls of all classes that wait for a turn. */
export async function waitingAt(process: Pick<SpillwayProcess, 'url'>): Promise<number> {
  const { queues } = await statusOf(process);
  return queues.critical + queues.normal + queues.low;
}

/** Calls under way, of all models. */
export async function underWayAt(process: SpillwayProcess): Promise<number> {
  const { models } = await statusOf(process);
  return Object.values(models).reduce((sum, { inflight }) => sum + inflight, 0);
}

/** Forgets how the calls of these models went. */
export async function reset({ url }: SpillwayProcess, models: readonly string[]): Promise<void> {
  for (const model of models) {
    const response = await fetch(`${url}/admin/models/${model}/reset`, { method: 'POST' });
    if (!response.ok) throw new Error(`${model} was not reset: ${response.status}`);
  }
}

/** Waits until something is so, and returns the milliseconds that it took. */
export async function eventually(condition: () => boolean | Promise<boolean>, withinMs = 10_000): Promise<number> {
  const startedAt = Date.now();
  while (!(await condition())) {
    if (Date.now() - startedAt > withinMs) throw new Error(`not within ${withinMs} ms: ${condition.toString()}`);
    await new Promise(resolve => setTimeout(resolve, 20));
  }
  return Date.now() - startedAt;
}
