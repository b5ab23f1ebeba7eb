import { ConfigStore, ConfigurationError, type Environment, type Settings } from '@spillway/config';
import { createLogger, type Logger } from '@spillway/telemetry';
import type { Surroundings } from '@spillway/pipeline';

type ProcessLog = ReturnType<typeof createLogger>;

/** For the last lines of the log. */
const LAST_WORDS_MS = 2_000;

/** Something that serves until it is stopped. */
export interface Running {
  /** Null where nothing listens. */
  readonly url: string | null;
  /** Ends what is under way in order, then everything. */
  stop(): Promise<void>;
}

/** The life of a process: start, reload on SIGHUP, stop on SIGTERM or SIGINT; ends with an exit code. */
export async function live(
  environment: Environment,
  simulatorUrl: string | undefined,
  serve: (surroundings: Surroundings) => Promise<Running>,
): Promise<void> {
  const config = new ConfigStore(environment, { simulatorUrl });
  requireRedisFor(environment, config);
  const logger = createLogger(config.current.log.level);
  // By itself Node would write what is left of the log first, however long nobody reads it.
  process.on('uncaughtException', error => {
    logger.error({ err: error }, 'an error that nobody caught: the process ends');
    leave(1, logger);
  });
  const running = await serve({ config, logger });
  sayWhatServes(config.current, simulatorUrl !== undefined, logger);
  const { url } = running;
  const who = { role: environment.role, configuration: config.current.file, url };
  if (url === null) logger.info(who, 'handing out turns');
  else logger.info({ ...who, console: `${url}/ui` }, `listening on ${url}`);
  process.on('SIGHUP', () => reload(config, logger));
  config.onChange(({ log }) => (logger.level = log.level));
  let ending = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    // A terminal and npm both pass one Ctrl-C on: the second must not cut off what the first lets end.
    process.on(signal, () => {
      if (!ending) end(signal, running, logger);
      ending = true;
    });
  }
}

/** What those who start it for the first time may not expect. */
function sayWhatServes({ redis, keys, server }: Settings, isSimulated: boolean, logger: ProcessLog): void {
  if (isSimulated) {
    logger.warn(
      {},
      'nothing is configured: answers come from the bundled simulator, not from a model. For those of a model set ' +
        'OPENAI_API_KEY, or write a spillway.yaml (README.md)',
    );
  }
  if (!redis.url) {
    logger.warn(
      {},
      'no REDIS_URL: queue, jobs, cache and limits are in memory, for this process alone and until it ends',
    );
  }
  if (keys.length === 0 && !/^(?:localhost|127\..*|::1)$/.test(server.host)) {
    logger.warn({}, 'no keys are configured: only callers on this machine are served, all others are refused');
  }
}

/** Prints why a process could not start, every problem of a configuration, and ends it. */
export function giveUp(error: unknown): never {
  console.error(error instanceof ConfigurationError ? error.message : (cannotListen(error) ?? error));
  process.exit(1);
}

/** An address that cannot be listened on is a matter of settings, for which nobody needs a stack. */
function cannotListen(error: unknown): string | null {
  if (!(error instanceof Error) || !('syscall' in error)) return null;
  if (error.syscall !== 'listen' && error.syscall !== 'getaddrinfo') return null;
  return `Cannot listen: ${error.message}. The address is server.host and server.port, or HOST and PORT.`;
}

/** A part of an installation finds the others through Redis alone. */
function requireRedisFor({ role }: Environment, config: ConfigStore): void {
  if (role === 'all' || config.current.redis.url) return;
  const message = `the role ${role} serves together with other processes, which needs Redis`;
  throw new ConfigurationError([{ path: 'REDIS_URL', message }]);
}

function reload(config: ConfigStore, logger: Logger): void {
  try {
    logger.info(config.reload(), 'configuration reloaded');
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    logger.error({ problems: error.problems }, 'configuration not reloaded, the last good one stays');
  }
}

function end(signal: NodeJS.Signals, running: Running, logger: ProcessLog): void {
  logger.info({ signal }, 'stopping: calls under way are finished first');
  running.stop().then(
    () => leave(0, logger),
    (error: unknown) => {
      logger.error({ err: error }, 'could not stop in order');
      leave(1, logger);
    },
  );
}

function leave(code: number, logger: ProcessLog): void {
  // An exit would wait for the thread that writes, and that for a reader which does not read.
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), LAST_WORDS_MS);
  void logger.written().then(() => {
    logger.close();
    process.exit(code);
  });
}
