import { setTimeout as sleep } from 'node:timers/promises';
import type { SeedStatus } from '@spillway/seeding';
import { Refusal, type Spillway } from './spillway';
import { progressLine } from './words';

/** Where progress is shown. */
export interface Screen {
  /** Whether a line can be written over. */
  readonly isTTY?: boolean | undefined;
  write(text: string): unknown;
}

const LOOK_EVERY_MS = 500;
/** Between lines that are not written over. */
const LINE_EVERY_MS = 5_000;
/** A Spillway that restarts is back by then. */
const SILENT_AT_MOST_MS = 120_000;

/** Shows how a seed gets on until it has ended. @throws Refusal */
export async function follow(spillway: Pick<Spillway, 'status'>, id: string, screen: Screen): Promise<SeedStatus> {
  let start: { readonly at: number; readonly done: number } | null = null;
  let shownAt = -Infinity;
  for (;;) {
    const status = await statusOf(spillway, id);
    const now = performance.now();
    start ??= { at: now, done: status.done };
    const hasEnded = status.state !== 'queued' && status.state !== 'running';
    if (screen.isTTY === true || hasEnded || now - shownAt >= LINE_EVERY_MS) {
      const pace = (1000 * (status.done - start.done)) / Math.max(1, now - start.at);
      show(screen, progressLine(status, pace), hasEnded);
      shownAt = now;
    }
    if (hasEnded) return status;
    await sleep(LOOK_EVERY_MS);
  }
}

function show(screen: Screen, line: string, isLast: boolean): void {
  if (screen.isTTY === true) screen.write(`\r\x1b[K${line}${isLast ? '\n' : ''}`);
  else screen.write(`${line}\n`);
}

async function statusOf(spillway: Pick<Spillway, 'status'>, id: string): Promise<SeedStatus> {
  const askedAt = performance.now();
  for (;;) {
    try {
      return await spillway.status(id);
    } catch (error) {
      const isAway = error instanceof Refusal && (error.status === null || error.status >= 500);
      if (error instanceof Refusal && error.status === 404) throw forgotten();
      if (!isAway || performance.now() - askedAt > SILENT_AT_MOST_MS) throw error;
      await sleep(LOOK_EVERY_MS);
    }
  }
}

function forgotten(): Refusal {
  const message =
    'Spillway knows nothing of this seed any more: without Redis it does not outlive a restart. Seed again.';
  return new Refusal(message, 404);
}
