import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
// As a whole: a Node too old to have `parseArgs` must still be told that it is.
import util from 'node:util';

/** The folder of the project, wherever it was started from. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';

/** Runs a command in the project's folder with its output on stderr; ends this process when it fails. */
function must(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ['ignore', process.stderr, process.stderr] });
  if (error) stop(`${command} could not be started: ${error.message}`);
  if (status !== 0) stop(`${command} ${args.join(' ')} failed.`, status ?? 1);
}

export function stop(message, code = 1) {
  console.error(message);
  process.exit(code);
}

/** What `parseArgs` makes of the command line; tells the usage where help is wanted, and where it can make nothing of it. */
export function commandLine(usage, { options, ...others }) {
  try {
    const found = util.parseArgs({ ...others, options: { ...options, help: { type: 'boolean', short: 'h' } } });
    if (!found.values.help) return found;
  } catch (error) {
    stop(`${error.message}\n${usage}`);
  }
  console.log(usage);
  process.exit(0);
}

/** The versions that a lock file, npm's own record of node_modules included, names by folder. */
function lockedVersions(file) {
  const { packages } = JSON.parse(readFileSync(file, 'utf8'));
  return Object.entries(packages).filter(([folder, { optional }]) => folder !== '' && !optional);
}

function isInstalled() {
  const record = join(root, 'node_modules/.package-lock.json');
  if (!existsSync(record)) return false;
  const present = new Map(lockedVersions(record));
  return lockedVersions(join(root, 'package-lock.json')).every(
    ([folder, { version }]) => present.get(folder)?.version === version,
  );
}

/** Installs the dependencies when they are missing or not those of the lock file. */
export function ensureInstalled() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19))
    stop(`Node 20.19 or newer is needed, this is ${process.versions.node}.`);
  if (isInstalled()) return;
  console.error('Installing dependencies, which takes a minute or two, once …');
  must(npm, ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
}

function* sourceFiles(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* sourceFiles(path);
    else if (/\.(ts|json|html|css|js)$/.test(entry.name) && !entry.name.endsWith('.spec.ts')) yield path;
  }
}

function sourcesHash() {
  const hash = createHash('sha256');
  const single = ['package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'nest-cli.json'].map(name =>
    join(root, name),
  );
  const trees = ['apps', 'libs'].map(name => join(root, name)).filter(existsSync);
  for (const file of [...single, ...trees.flatMap(tree => [...sourceFiles(tree)])]) {
    hash.update(relative(root, file)).update('\0').update(readFileSync(file)).update('\0');
  }
  return hash.digest('hex');
}

const stamp = join(root, 'dist/.sources');

/** Builds dist/ anew, and notes there what it was built from. */
export function build() {
  const sources = sourcesHash();
  must(npm, ['run', '--silent', 'build:clean']);
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, sources);
}

/** Builds dist/ when it is missing or older than the sources; a Spillway that runs from it would lose its files. */
export function ensureBuilt() {
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === sourcesHash()) return;
  console.error('Building, as the sources are new …');
  build();
}

/** Runs a program as if it were this process: signals and the exit code pass through. */
export function become(command, args, options = {}) {
  const child = spawn(command, args, { stdio: 'inherit', ...options });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', error => stop(`${command} could not be started: ${error.message}`));
  child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
}
