import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { root, stop } from './workspace.mjs';

const runs = (command, args) => spawnSync(command, args, { stdio: 'ignore' }).status === 0;

/**
 * Makes sure that `redis-server` can be started: on the PATH, else from Debian's packages, else a Docker container
 * behind a command of that name. Without any of them the tests do not run: skipping them would look like success.
 */
export function ensureRedis() {
  if (runs('redis-server', ['--version'])) return;
  if (process.getuid?.() === 0 && existsSync('/etc/debian_version') && installFromDebian()) return;
  if (runs('docker', ['info'])) return wrapDocker();
  stop('The tests need Redis: install redis-server (Debian: apt-get install redis-server), or start Docker.');
}

function installFromDebian() {
  console.error('Installing redis-server …');
  const apt = args =>
    spawnSync('apt-get', args, {
      stdio: ['ignore', process.stderr, process.stderr],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    }).status === 0;
  apt(['update', '-qq']);
  return (
    apt(['install', '-y', '-qq', '--no-install-recommends', 'redis-server']) && runs('redis-server', ['--version'])
  );
}

/** A `redis-server` that runs in a container on the host's network and folder, and ends with its process. */
function wrapDocker() {
  const folder = join(root, 'node_modules/.cache/redis');
  const file = join(folder, 'redis-server');
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, '#!/bin/sh\nexec docker run --rm --network host -v /tmp:/tmp redis:7 redis-server "$@"\n');
  chmodSync(file, 0o755);
  process.env.PATH = `${folder}${delimiter}${process.env.PATH}`;
}
