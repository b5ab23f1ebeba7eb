import { existsSync, readFileSync } from 'node:fs';
import { resolve as absolute } from 'node:path';
import { isJsonObject } from '@spillway/contracts';
import { builtIn, hasOpenAi, SIMULATOR_URL, usesBuiltIn } from './built-in';
import { ConfigurationError, type Path, pathOf, problemsOf } from './configuration-error';
import type { Environment } from './environment';
import { interpolate } from './interpolate';
import { likelyKey } from './likely-key';
import { parseYaml, type ParsedFile } from './parse-yaml';
import { checkReferences } from './references';
import { resolve } from './resolve';
import { type Configuration, configurationSchema } from './schema';
import type { Settings } from './settings';

export interface LoadOptions {
  /** Base address of the provider simulator, with `/v1`, for the built-in configuration. */
  readonly simulatorUrl?: string | undefined;
  /** Where relative paths start; default: the folder of the process. */
  readonly folder?: string | undefined;
  /** Whether a file without a single setting is a problem, and not a way to ask for the defaults. */
  readonly refuseEmpty?: boolean;
}

const DEFAULT_FILE = 'spillway.yaml';

/**
 * Reads the configuration file, or takes the built-in configuration where there is none.
 * @throws ConfigurationError with everything that is wrong.
 */
export function loadSettings(environment: Environment, options: LoadOptions = {}): Settings {
  const file = fileOf(environment, options.folder);
  const parsed = file === null ? { value: null, problems: [] } : readFile(file, options.refuseEmpty);
  const sections = withoutEmptySections(parsed.value);
  const value = usesBuiltIn(sections)
    ? { ...sections, ...builtIn(environment, options.simulatorUrl ?? SIMULATOR_URL) }
    : sections;
  const configuration = validate({ value, problems: parsed.problems }, environment.variables);
  return resolve(configuration, environment, file);
}

/** Whether nothing is configured that could answer, so that the simulator must be started before loading. */
export function needsSimulator(environment: Environment, folder?: string): boolean {
  if (hasOpenAi(environment)) return false;
  const file = fileOf(environment, folder);
  if (file === null) return true;
  try {
    return usesBuiltIn(withoutEmptySections(readFile(file).value));
  } catch (error) {
    // Loading reports it.
    if (error instanceof ConfigurationError) return false;
    throw error;
  }
}

function fileOf({ file }: Environment, folder = process.cwd()): string | null {
  if (file !== undefined) return absolute(folder, file);
  const found = absolute(folder, DEFAULT_FILE);
  return existsSync(found) ? found : null;
}

function readFile(file: string, refuseEmpty = false): ParsedFile {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const { code = 'unknown reason' } = error as NodeJS.ErrnoException;
    throw new ConfigurationError([{ path: '', message: `cannot read ${file} (${code})` }]);
  }
  const parsed = parseYaml(text);
  if (refuseEmpty && parsed.value === null && parsed.problems.length === 0)
    throw new ConfigurationError([{ path: '', message: `${file} is empty` }]);
  return parsed;
}

/** A section whose entries are all commented out reads as null. */
function withoutEmptySections(value: unknown): unknown {
  if (value === null) return {};
  return isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).filter(([, section]) => section !== null))
    : value;
}

function validate({ value, problems }: ParsedFile, variables: Environment['variables']): Configuration {
  const texts = interpolate(value, variables);
  const refused = new Set(configurationSchema.safeParse(texts.value).error?.issues.map(issue => pathOf(issue.path)));
  // A variable in the place of a number or a switch.
  const scalars = new Set(texts.replaced.filter(path => refused.has(path)));
  const interpolated = interpolate(value, variables, scalars);
  const { success, data, error } = configurationSchema.safeParse(interpolated.value);

  const likely = (parent: Path, key: string) => likelyKey(configurationSchema, parent, key);
  const early = [...problems, ...interpolated.problems];
  const known = new Set(early.map(problem => problem.path));
  const late = [...(success ? [] : problemsOf(error, likely)), ...checkReferences(interpolated.value)];
  const all = [...early, ...late.filter(problem => problem.path === '' || !known.has(problem.path))];
  if (!success || all.length > 0) throw new ConfigurationError(all);
  return data;
}
