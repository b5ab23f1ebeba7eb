// `npm run lab -- SCENARIO`: a load experiment with the built programs and a Redis of its own.
import { join } from 'node:path';
import { ensureRedis } from './redis.mjs';
import { become, ensureBuilt, ensureInstalled, root } from './workspace.mjs';

ensureInstalled();
ensureBuilt();
ensureRedis();
become(process.execPath, ['--enable-source-maps', join(root, 'dist/apps/lab/src/main.js'), ...process.argv.slice(2)]);
