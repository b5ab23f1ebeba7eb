import type { HealthReport } from '@spillway/health';
import type { Gateway } from './gateway';

/** How a gateway says that a model is. */
export async function healthAt({ url }: Pick<Gateway, 'url'>, model: string): Promise<HealthReport> {
  const response = await fetch(`${url}/admin/status`);
  const { models } = (await response.json()) as { models: Record<string, { health: HealthReport } | undefined> };
  const status = models[model];
  if (status === undefined) throw new Error(`no model ${model}`);
  return status.health;
}

/** What an operator does to a model. */
export async function operate(
  { url }: Pick<Gateway, 'url'>,
  model: string,
  action: 'pause' | 'resume' | 'reset',
): Promise<{ readonly status: number; readonly body: Partial<HealthReport> }> {
  const response = await fetch(`${url}/admin/models/${model}/${action}`, { method: 'POST' });
  return { status: response.status, body: (await response.json()) as Partial<HealthReport> };
}
