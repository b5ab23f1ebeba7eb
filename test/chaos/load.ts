import { setTimeout as sleep } from 'node:timers/promises';
import { PRIORITIES, type Priority } from '@spillway/contracts';
import { seededRandom } from '../../apps/simulator/src/random';
import type { Scene } from './scene';

/** Calls a second of each class. */
const RATES: Readonly<Record<Priority, number>> = { critical: 14, normal: 14, low: 8 };
const STREAMED = 0.5;
const LEAVING = 0.05;
const LEAVES_WITHIN_MS = 200;
const GIVES_UP_AFTER_MS = 30_000;

/** One call, as its client saw it. */
export interface ClientCall {
  /** Stands in the prompt and is the request id. */
  readonly marker: string;
  readonly priority: Priority;
  readonly gateway: 0 | 1;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly end: Ending;
}

type Ending =
  | { readonly kind: 'answered'; readonly status: number; readonly headers: Headers; readonly isWhole: boolean }
  /** The connection broke; `gave-up`: nothing came in half a minute. */
  | { readonly kind: 'broken' | 'left' | 'gave-up' };

interface Planned {
  readonly atMs: number;
  readonly priority: Priority;
  readonly gateway: 0 | 1;
  readonly streams: boolean;
  readonly leavesAfterMs: number | null;
}

/** Calls of all classes at their times, whatever becomes of the earlier ones; the same for the same seed. */
export async function sendLoad(scene: Scene, seed: number, loadMs: number): Promise<readonly ClientCall[]> {
  const startedAt = Date.now();
  const calls = planOf(seed, loadMs).map(async (planned, index) => {
    await sleep(startedAt + planned.atMs - Date.now());
    return send(scene, planned, `call-${seed}-${index}`);
  });
  return Promise.all(calls);
}

function planOf(seed: number, loadMs: number): Planned[] {
  const random = seededRandom(seed + 1_000_003);
  const plan: Planned[] = [];
  for (const priority of PRIORITIES) {
    for (let atMs = 0; atMs < loadMs; atMs += (-Math.log(1 - random()) * 1_000) / RATES[priority]) {
      const gateway = random() < 0.5 ? 0 : 1;
      const leavesAfterMs = random() < LEAVING ? Math.round(random() * LEAVES_WITHIN_MS) : null;
      plan.push({ atMs, priority, gateway, streams: random() < STREAMED, leavesAfterMs });
    }
  }
  return plan;
}

/** As a load balancer would: a gateway that refuses connections gets nothing, one that hangs does. */
async function send(scene: Scene, planned: Planned, marker: string): Promise<ClientCall> {
  const gateway = scene.gateways[planned.gateway].isDown ? (planned.gateway === 0 ? 1 : 0) : planned.gateway;
  const startedAt = Date.now();
  const end = await exchange(scene.gateways[gateway].process.url, planned, marker);
  return { marker, priority: planned.priority, gateway, startedAt, endedAt: Date.now(), end };
}

async function exchange(url: string, { priority, streams, leavesAfterMs }: Planned, marker: string): Promise<Ending> {
  const signal = AbortSignal.timeout(leavesAfterMs ?? GIVES_UP_AFTER_MS);
  try {
    const response = await fetch(`${url}/${priority}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-request-id': marker },
      body: JSON.stringify({ model: 'assistant', stream: streams, messages: [{ role: 'user', content: marker }] }),
      signal,
    });
    const { status, headers } = response;
    return { kind: 'answered', status, headers, isWhole: isWhole(await response.text(), streams) };
  } catch {
    if (!signal.aborted) return { kind: 'broken' };
    return { kind: leavesAfterMs === null ? 'gave-up' : 'left' };
  }
}

/** A stream that breaks after its first content ends with an error event, as promised. */
function isWhole(text: string, streams: boolean): boolean {
  const isAnswer = text.includes('"finish_reason":"stop"') && (!streams || text.trimEnd().endsWith('data: [DONE]'));
  return isAnswer || (streams && /data: \{"error":\{[^\n]*\}\s*$/.test(text));
}
