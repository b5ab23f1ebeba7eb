import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { ConfigStore, readEnvironment } from '@spillway/config';

/** Writes a configuration into a file of its own and returns its path. */
export function configurationFile(configuration: object): string {
  const file = join(mkdtempSync(join(tmpdir(), 'spillway-test-')), 'spillway.yaml');
  writeFileSync(file, stringify(configuration));
  return file;
}

/** The settings that a configuration and some environment variables make. */
export function configStore(configuration: object, env: Readonly<Record<string, string>> = {}): ConfigStore {
  return new ConfigStore(readEnvironment({ ...env, SPILLWAY_CONFIG: configurationFile(configuration) }));
}
