import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, loadavg, platform, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { projectFolder } from '../scenario/read-file';

/** Programs that wanted a processor before anything ran. */
const [loadBefore = 0] = loadavg();

/** Where and with what a run was made. */
export function machine(): Readonly<Record<string, string>> {
  const { version, dependencies } = JSON.parse(readFileSync(join(projectFolder(), 'package.json'), 'utf8')) as {
    readonly version: string;
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const redis = /v=(\S+)/.exec(spawnSync('redis-server', ['--version'], { encoding: 'utf8' }).stdout ?? '')?.[1];
  const processors = cpus();
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: `${processors.length} × ${processors[0]?.model.trim() ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GB, ${platform()} ${release()}`,
    'load before the run': loadBefore.toFixed(2),
    versions: `Spillway ${version}, Node ${process.versions.node}, Redis ${redis ?? 'unknown'}, openai ${dependencies['openai'] ?? 'unknown'}`,
  };
}
