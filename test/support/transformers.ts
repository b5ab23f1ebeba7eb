import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** As `locateTransformers` recommends it. */
const VERSION = '4.3.2';
const KEPT = join(__dirname, '../../.cache');

/**
 * The folder of modules with `@huggingface/transformers`, which is installed once (475 MB) where it is not there yet:
 * nobody but those who want it should have it, so that it is no dependency.
 */
export async function transformersModules(): Promise<string> {
  const folder = join(KEPT, `transformers-${VERSION}`);
  if (!existsSync(folder)) await install(folder);
  return join(folder, 'node_modules');
}

/** Whole or not at all, also where two suites want it at the same time. */
async function install(folder: string): Promise<void> {
  mkdirSync(KEPT, { recursive: true });
  const draft = mkdtempSync(join(KEPT, 'draft-'));
  const wanted = `@huggingface/transformers@${VERSION}`;
  const words = ['install', '--prefix', draft, '--no-save', '--no-package-lock', '--no-audit', '--no-fund', wanted];
  try {
    // Its installation would else download libraries for graphics cards.
    await promisify(execFile)('npm', words, { cwd: draft, env: { ...process.env, ONNXRUNTIME_NODE_INSTALL: 'skip' } });
    renameSync(draft, folder);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (existsSync(folder)) return;
    throw new Error(`the tests of the onnx embedding need ${wanted}, which could not be installed`, { cause: error });
  }
}
