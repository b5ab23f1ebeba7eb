import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, underWayAt, waitingAt } from '../support/operator';
import { callerOf, ask } from '../support/caller';
import { play } from './faults';
import { sendLoad } from './load';
import { brokenPromises, type Evidence } from './promises';
import { reportOf } from './report';
import { LEASE_MS, Scene } from './scene';
import { scheduleOf, type ScheduledFault } from './schedule';

const FIRST_SEED = Number(process.env['SPILLWAY_CHAOS_SEED'] ?? 1);
const SEEDS = Number(process.env['SPILLWAY_CHAOS_SEEDS'] ?? 1);
const LOAD_MS = 14_000;
const RUN_MS = 120_000;
/** How soon readiness says that all is well again; two seconds are promised, the rest is for a busy machine. */
const READY_WITHIN_MS = 4_000;
/** What is left of leases, claims and rests of models when the last fault is over. */
const HEALED_WITHIN_MS = LEASE_MS + 8_000;

describe.each(Array.from({ length: SEEDS }, (_, index) => FIRST_SEED + index))('chaos with seed %d', seed => {
  let scene: Scene;

  beforeAll(async () => {
    scene = await Scene.start();
  }, RUN_MS);
  afterAll(() => scene?.stop());

  it(
    'calls that can be answered are, no limit is broken, nothing is done twice, and all heals by itself',
    async () => {
      const schedule = scheduleOf(seed, LOAD_MS);
      const keysBefore = await keysAtRest(scene);
      const evidence = await runOf(scene, seed, schedule);
      const broken = [...brokenPromises(evidence), ...(await unhealed(scene, keysBefore))];
      process.stdout.write(`${reportOf(seed, schedule, evidence)}\n`);
      if (broken.length > 0) process.stdout.write(`${scheduleText(seed, schedule)}\n`);
      expect(broken).toEqual([]);
    },
    RUN_MS,
  );
});

async function runOf(scene: Scene, seed: number, schedule: readonly ScheduledFault[]): Promise<Evidence> {
  const startedAt = Date.now();
  const faults = Promise.all(
    schedule.map(async fault => {
      await sleep(fault.atMs);
      await play(scene, fault);
    }),
  );
  const [calls] = await Promise.all([sendLoad(scene, seed, LOAD_MS), faults]);
  await sleep(200);
  const { wipes, lonelyStarts, gateways } = scene;
  return {
    calls: calls.filter(call => call.startedAt >= startedAt),
    upstream: scene.upstreamCalls(),
    lines: scene.callLines(),
    gatewayTrouble: [gateways[0].trouble, gateways[1].trouble],
    wipes,
    lonelyStarts,
  };
}

/** What has not come back to rest by itself. */
async function unhealed(scene: Scene, keysBefore: number): Promise<string[]> {
  const problems: string[] = [];
  const soon = async (what: string, withinMs: number, holds: () => Promise<boolean>): Promise<void> => {
    await eventually(() => holds().catch(() => false), withinMs).catch(() =>
      problems.push(`after the faults: ${what}`),
    );
  };
  await soon('a process is not ready', READY_WITHIN_MS, async () =>
    (await Promise.all(scene.processes.map(isWell))).every(Boolean),
  );
  for (const gateway of scene.gateways.map(({ process }) => process)) {
    await soon('calls still wait', HEALED_WITHIN_MS, async () => (await waitingAt(gateway)) === 0);
    await soon('permits are still held', HEALED_WITHIN_MS, async () => (await underWayAt(gateway)) === 0);
    await soon('the first model does not answer, by the limits of all', HEALED_WITHIN_MS, async () => {
      const { headers } = await ask(callerOf(gateway.url, { path: '/critical/v1' }), 'assistant', 'well?');
      return headers.get('x-spillway-outcome') === 'generated' && headers.get('x-spillway-limits') === null;
    });
  }
  await soon('keys are left behind', HEALED_WITHIN_MS, async () => (await keysAtRest(scene)) <= keysBefore + NEW_KEYS);
  return problems;
}

/** Queues and windows that came into being with the first calls. */
const NEW_KEYS = 30;

async function keysAtRest({ installation }: Scene): Promise<number> {
  return Number(await installation.redis.command('DBSIZE'));
}

async function isWell({ url }: { readonly url: string }): Promise<boolean> {
  const response = await fetch(`${url}/readyz`);
  return ((await response.json()) as { status: string }).status === 'ok';
}

function scheduleText(seed: number, schedule: readonly ScheduledFault[]): string {
  const faults = schedule.map(
    ({ kind, atMs, forMs, target }) => `  ${atMs} ms: ${kind} for ${forMs} ms (target ${target})`,
  );
  return [`The schedule of seed ${seed}:`, ...faults].join('\n');
}
