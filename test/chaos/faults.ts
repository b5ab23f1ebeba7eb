import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault, ModelPatch } from '../../apps/simulator/src/settings';
import { FRAIL, USUAL_LATENCY, type Scene } from './scene';
import type { ScheduledFault } from './schedule';

/** Plays one fault from its beginning to its end; afterwards all that it broke is whole, or about to heal. */
export async function play(scene: Scene, fault: ScheduledFault): Promise<void> {
  const { redis } = scene.installation;
  const wait = (): Promise<void> => sleep(fault.forMs);
  const gateway = scene.gateways[fault.target];
  switch (fault.kind) {
    case 'redis-frozen':
      return withoutRedis(scene, async () => {
        redis.kill('SIGSTOP');
        await wait();
        redis.kill('SIGCONT');
      });
    case 'redis-killed':
    case 'redis-emptied':
      return withoutRedis(scene, async () => {
        redis.kill('SIGKILL');
        await wait();
        if (fault.kind === 'redis-emptied') scene.wipes.push(Date.now());
        await redis.restart({ empty: fault.kind === 'redis-emptied' });
      });
    case 'redis-full':
      return withoutRedis(scene, async () => {
        await redis.command('CONFIG', 'SET', 'maxmemory', '1');
        await wait();
        await redis.command('CONFIG', 'SET', 'maxmemory', '0');
      });
    case 'redis-replica':
      return withoutRedis(scene, async () => {
        await redis.command('REPLICAOF', '127.0.0.1', '1');
        await wait();
        await redis.command('REPLICAOF', 'NO', 'ONE');
      });
    case 'gateway-killed':
      return scene.replace(gateway, 'gateway', fault.forMs);
    case 'worker-killed':
      return scene.replace(scene.worker, 'worker', fault.forMs);
    case 'gateway-frozen':
      return scene.freeze(gateway, fault.forMs);
    case 'worker-frozen':
      return scene.freeze(scene.worker, fault.forMs);
    case 'model-leaks':
    case 'model-slows':
    case 'model-does-not-load':
    case 'model-refuses':
    case 'model-resets':
      return failModel(scene, fault);
    default:
      return fault.kind satisfies never;
  }
}

async function withoutRedis(scene: Scene, away: () => Promise<void>): Promise<void> {
  const from = Date.now();
  await away();
  scene.withoutRedis.push({ from, to: Date.now() });
}

/** The course of a fault of a model: what it does, a step after the other, in equal times. */
const COURSES: Readonly<Record<string, readonly ModelPatch[]>> = {
  // Memory leaks: slower and slower, then failures.
  'model-leaks': [slower(3), slower(6), slower(10), failing({ kind: 'status', status: 500 })],
  // A fragmented cache: 63 % less throughput, which is 2.7 times the time for each call.
  'model-slows': [slower(2.7)],
  'model-does-not-load': [failing({ kind: 'hang' })],
  'model-refuses': [failing({ kind: 'status', reason: 'rpm', retry_after_ms: 300, probability: 0.6 })],
  'model-resets': [failing({ kind: 'reset', probability: 0.7 })],
};

async function failModel(scene: Scene, { kind, target, forMs }: ScheduledFault): Promise<void> {
  const { simulator } = scene.installation;
  const model = FRAIL[target];
  const course = COURSES[kind] ?? [];
  for (const step of course) {
    simulator.configure(model, step);
    await sleep(forMs / course.length);
  }
  simulator.configure(model, { faults: [], latency: USUAL_LATENCY });
}

function slower(factor: number): ModelPatch {
  const { first_token_ms: firstToken, tokens_per_s: tokens } = USUAL_LATENCY;
  return { latency: { first_token_ms: firstToken * factor, tokens_per_s: tokens / factor } };
}

function failing(fault: Fault): ModelPatch {
  return { faults: [fault] };
}
