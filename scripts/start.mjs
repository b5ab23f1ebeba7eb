// `npm start`: from a fresh clone to a serving router.
import { join } from 'node:path';
import { become, ensureBuilt, ensureInstalled, root } from './workspace.mjs';

ensureInstalled();
ensureBuilt();
become(process.execPath, [join(root, 'dist/apps/gateway/src/main.js'), ...process.argv.slice(2)]);
