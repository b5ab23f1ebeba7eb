// `node scripts/run.mjs FILE [ARGUMENTS]`: runs a built program, named by its place under dist/, building it when needed.
import { join } from 'node:path';
import { become, ensureBuilt, ensureInstalled, root, stop } from './workspace.mjs';

const [file, ...args] = process.argv.slice(2);
if (file === undefined) stop('Which file of dist/ is to run?');
ensureInstalled();
ensureBuilt();
become(process.execPath, ['--enable-source-maps', join(root, 'dist', file), ...args]);
