// `npm run test:chaos [-- --seeds N] [--seed FIRST]`: runs of faults under load, one after the other, each with a seed of
// its own. A run that fails prints its seed and its schedule.
import { join } from 'node:path';
import { ensureRedis } from './redis.mjs';
import { become, commandLine, ensureBuilt, ensureInstalled, root } from './workspace.mjs';

const { values } = commandLine('npm run test:chaos -- [--seeds N] [--seed FIRST]', {
  options: { seeds: { type: 'string' }, seed: { type: 'string' } },
});
const first = values.seed ?? process.env.SPILLWAY_CHAOS_SEED ?? '1';

ensureInstalled();
ensureBuilt();
ensureRedis();
Object.assign(process.env, { SPILLWAY_CHAOS_SEED: first, SPILLWAY_CHAOS_SEEDS: values.seeds ?? '5' });
become(process.execPath, [join(root, 'node_modules/jest/bin/jest.js'), '--selectProjects', 'chaos'], { cwd: root });
