import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parse } from 'yaml';
import type { z } from 'zod';
import { withChanges, type Change } from './what-if';
import { poolSchema, scenarioSchema, type Pool, type Scenario } from './schema';

/** A file of the lab that cannot be used; every problem with its path. */
export class InvalidFile extends Error {
  readonly code = 'invalid_file';
}

/** The folder of the project: the sources are read there, wherever the built program stands. */
export function projectFolder(): string {
  let folder = __dirname;
  while (!existsSync(join(folder, 'apps/lab/scenarios'))) {
    if (dirname(folder) === folder) throw new InvalidFile('The folder apps/lab/scenarios is not there.');
    folder = dirname(folder);
  }
  return folder;
}

const folderOf = (what: 'scenarios' | 'pools') => join(projectFolder(), 'apps/lab', what);

/** Names of the scenarios that come with the project. */
export function scenarioNames(): string[] {
  return readdirSync(folderOf('scenarios'))
    .filter(file => file.endsWith('.yaml'))
    .map(file => basename(file, '.yaml'))
    .sort();
}

/** A scenario, perhaps with some of its values changed. */
export function readScenario(name: string, changes: readonly Change[] = []): Scenario {
  if (!scenarioNames().includes(name)) {
    throw new InvalidFile(`There is no scenario ${name}. What there is: npm run lab -- list`);
  }
  return checked(scenarioSchema, join(folderOf('scenarios'), `${name}.yaml`), said => withChanges(said, changes));
}

export function readPool(name: string): Pool {
  return checked(poolSchema, join(folderOf('pools'), `${name}.yaml`));
}

/** What a text says in the shape of a schema; throws `InvalidFile` with every problem. */
export function parseAs<Schema extends z.ZodType>(
  schema: Schema,
  source: string,
  name: string,
  change: (said: unknown) => unknown = said => said,
): z.output<Schema> {
  const result = schema.safeParse(change(parse(source)));
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) => `${path.join('.') || 'file'}: ${message}`);
  throw new InvalidFile(`${name}:\n  ${problems.join('\n  ')}`);
}

function checked<Schema extends z.ZodType>(
  schema: Schema,
  file: string,
  change?: (said: unknown) => unknown,
): z.output<Schema> {
  if (!existsSync(file)) throw new InvalidFile(`${basename(file)} is not there.`);
  return parseAs(schema, readFileSync(file, 'utf8'), basename(file), change);
}
