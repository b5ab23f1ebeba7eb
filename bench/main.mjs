// `npm run bench [-- --only hit,miss] [--short] [--profile FOLDER]`: measures the gateway against floors taken in the
// same run. A whole run writes docs/benchmarks/gateway.md; any other only prints.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureRedis } from '../scripts/redis.mjs';
import { ensureBuilt, ensureInstalled, root, stop } from '../scripts/workspace.mjs';

const LONG = { windows: 5, seconds: 4, calls: 200, amount: 100_000 };
const SHORT = { windows: 2, seconds: 1, calls: 50, amount: 10_000 };

const { values } = parseArgs({
  options: { only: { type: 'string' }, short: { type: 'boolean' }, profile: { type: 'string' } },
});
ensureInstalled();
ensureBuilt();
ensureRedis();

// What needs installed packages is loaded only now.
const [{ Scene }, { pinThisProcess }, { report }] = await Promise.all([
  import('./scene.mjs'),
  import('./processes.mjs'),
  import('./report.mjs'),
]);
const measurements = {
  hit: (await import('./hit.mjs')).measureHit,
  miss: (await import('./miss.mjs')).measureMiss,
  streaming: (await import('./streaming.mjs')).measureStreaming,
  memory: (await import('./memory.mjs')).measureMemory,
};

const wanted = values.only?.split(',') ?? Object.keys(measurements);
const unknown = wanted.find(name => !Object.hasOwn(measurements, name));
if (unknown !== undefined)
  stop(`There is no measurement ${unknown}: choose among ${Object.keys(measurements).join()}.`);
const settings = values.short ? SHORT : LONG;

pinThisProcess();
const results = [];
for (const name of wanted) {
  console.error(`Measuring: ${name} …`);
  const scene = new Scene({ profiles: values.profile });
  try {
    results.push(await measurements[name](scene, settings));
  } finally {
    await scene.close();
  }
}

const text = report(results, settings);
console.log(text);
if (values.only === undefined && !values.short) {
  mkdirSync(join(root, 'docs/benchmarks'), { recursive: true });
  writeFileSync(join(root, 'docs/benchmarks/gateway.md'), text);
}
