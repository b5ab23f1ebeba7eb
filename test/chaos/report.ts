import { PRIORITIES } from '@spillway/contracts';
import type { ClientCall } from './load';
import { succeeded, type Evidence } from './promises';
import type { ScheduledFault } from './schedule';

/** A line for each class: how many calls a model answered, and how fast, with Redis and without. */
export function reportOf(seed: number, schedule: readonly ScheduledFault[], { calls }: Evidence): string {
  const lines = PRIORITIES.map(priority => {
    const counted = calls.filter(call => call.priority === priority && call.end.kind !== 'left');
    const [shared, local] = [counted.filter(call => !isLocal(call)), counted.filter(isLocal)];
    return `  ${priority}: ${counted.filter(succeeded).length} of ${counted.length} answered by a model, p95 ${p95(shared)} ms with Redis, ${p95(local)} ms without (${local.length} calls); ${endsOf(counted)}`;
  });
  return [`seed ${seed}: ${schedule.length} faults, ${calls.length} calls`, ...lines].join('\n');
}

function endsOf(calls: readonly ClientCall[]): string {
  const counts = new Map<string, number>();
  for (const { end } of calls) {
    const name = end.kind === 'answered' ? (end.headers.get('x-spillway-outcome') ?? 'none') : end.kind;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => `${name} ${count}`).join(', ');
}

function isLocal({ end }: ClientCall): boolean {
  return end.kind === 'answered' && end.headers.get('x-spillway-limits') === 'local';
}

function p95(calls: readonly ClientCall[]): number {
  const times = calls
    .filter(succeeded)
    .map(({ startedAt, endedAt }) => endedAt - startedAt)
    .toSorted((one, other) => one - other);
  return times[Math.floor(times.length * 0.95)] ?? NaN;
}
