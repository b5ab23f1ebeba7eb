// `npm test [-- ARGUMENTS OF JEST]`: installs what is missing, then runs every suite against a real Redis.
import { join } from 'node:path';
import { ensureRedis } from './redis.mjs';
import { become, ensureBuilt, ensureInstalled, root } from './workspace.mjs';

ensureInstalled();
ensureBuilt();
ensureRedis();
become(process.execPath, [join(root, 'node_modules/jest/bin/jest.js'), ...process.argv.slice(2)], { cwd: root });
