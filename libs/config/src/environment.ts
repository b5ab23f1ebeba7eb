import { z } from 'zod';
import { ConfigurationError, problemsOf } from './configuration-error';
import { LOG_LEVELS } from './schema';
import { optionalRedisAddress, optionalSecret, optionalWebAddress, port } from './scalars';

/** What a process takes from its environment, read once at its start. */
export interface Environment {
  /** SPILLWAY_CONFIG */
  readonly file: string | undefined;
  readonly port: number | undefined;
  readonly host: string | undefined;
  readonly redisUrl: string | undefined;
  readonly qdrantUrl: string | undefined;
  readonly qdrantApiKey: string | undefined;
  readonly openaiApiKey: string | undefined;
  readonly openaiBaseUrl: string | undefined;
  readonly openaiModel: string | undefined;
  readonly adminKey: string | undefined;
  /** SPILLWAY_ROLE */
  readonly role: 'all' | 'gateway' | 'worker';
  readonly logLevel: (typeof LOG_LEVELS)[number] | undefined;
  /** All variables that are set and not empty, for `${NAME}` in the file. */
  readonly variables: Readonly<Record<string, string>>;
}

const schema = z.object({
  SPILLWAY_CONFIG: z.string().optional(),
  PORT: z
    .string()
    .regex(/^\d{1,5}$/, 'expected a port from 0 to 65535')
    .transform(Number)
    .pipe(port())
    .optional(),
  HOST: z.string().optional(),
  REDIS_URL: optionalRedisAddress(),
  QDRANT_URL: optionalWebAddress(),
  QDRANT_API_KEY: optionalSecret(),
  OPENAI_API_KEY: optionalSecret(),
  OPENAI_BASE_URL: optionalWebAddress(),
  OPENAI_MODEL: z.string().optional(),
  SPILLWAY_ADMIN_KEY: optionalSecret(),
  SPILLWAY_ROLE: z.enum(['all', 'gateway', 'worker']).default('all'),
  LOG_LEVEL: z.enum(LOG_LEVELS).optional(),
});

/**
 * Reads the environment strictly; an empty variable counts as not set.
 * @throws ConfigurationError naming every bad variable.
 */
export function readEnvironment(env: NodeJS.ProcessEnv = process.env): Environment {
  const variables = Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== ''),
  );
  const { success, data, error } = schema.safeParse(variables);
  if (!success) throw new ConfigurationError(problemsOf(error));
  return {
    file: data.SPILLWAY_CONFIG,
    port: data.PORT,
    host: data.HOST,
    redisUrl: data.REDIS_URL,
    qdrantUrl: data.QDRANT_URL,
    qdrantApiKey: data.QDRANT_API_KEY,
    openaiApiKey: data.OPENAI_API_KEY,
    openaiBaseUrl: data.OPENAI_BASE_URL,
    openaiModel: data.OPENAI_MODEL,
    adminKey: data.SPILLWAY_ADMIN_KEY,
    role: data.SPILLWAY_ROLE,
    logLevel: data.LOG_LEVEL,
    variables,
  };
}
