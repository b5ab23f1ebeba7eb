import { isDeepStrictEqual } from 'node:util';
import type { Environment } from './environment';
import { type LoadOptions, loadSettings } from './load';
import type { Settings } from './settings';

export interface Reload {
  /** Whether anything that can change while running is different now. */
  readonly changed: boolean;
  /** What is different in the file but stays as it was until a restart. */
  readonly needsRestart: readonly string[];
}

type Listener = (settings: Settings) => void;

/** The settings in force, and how they change. */
export class ConfigStore {
  private settings: Settings;
  private readonly listeners = new Set<Listener>();

  /** @throws ConfigurationError */
  constructor(
    private readonly environment: Environment,
    private readonly options: LoadOptions = {},
  ) {
    this.settings = loadSettings(environment, options);
  }

  get current(): Settings {
    return this.settings;
  }

  /**
   * Reads the file again, with the environment of the start. One that is gone, or empty because somebody is writing it, is a
   * problem: the built-in configuration, which asks nobody for a key, must not take its place.
   * @throws ConfigurationError; the settings stay as they are.
   */
  reload(): Reload {
    const file = this.settings.file ?? this.environment.file;
    const loaded = loadSettings({ ...this.environment, file }, { ...this.options, refuseEmpty: true });
    const fixed = fixedPartOf(this.settings);
    const needsRestart = differences(fixed, fixedPartOf(loaded));
    const next = withFixedPart(fixed, loaded);
    const changed = !sameValues(this.settings, next);
    if (changed) {
      this.settings = next;
      for (const listener of this.listeners) listener(next);
    }
    return { changed, needsRestart };
  }

  /** Calls the listener after every change; returns what ends that. */
  onChange(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

/** What sockets, connections and workers were made with at the start. */
function fixedPartOf({ server, redis, qdrant, scheduling, async, cache, admin, embedding }: Settings) {
  const { host, port, body_limit, cors } = server;
  return {
    server: { host, port, body_limit, cors },
    redis,
    qdrant,
    scheduling,
    async: { concurrency: async.concurrency },
    cache: { l1_entries: cache.l1_entries, vector_entries: cache.vector_entries, folder: cache.folder },
    admin: { explain_entries: admin.explain_entries },
    embedding,
  };
}

function withFixedPart(fixed: ReturnType<typeof fixedPartOf>, loaded: Settings): Settings {
  return {
    ...loaded,
    ...fixed,
    server: { ...loaded.server, ...fixed.server },
    async: { ...loaded.async, ...fixed.async },
    cache: { ...loaded.cache, ...fixed.cache },
    admin: { ...loaded.admin, ...fixed.admin },
  };
}

function differences(one: ReturnType<typeof fixedPartOf>, other: ReturnType<typeof fixedPartOf>): string[] {
  const values = flatten(other);
  return [...flatten(one)].flatMap(([path, value]) => (isDeepStrictEqual(value, values.get(path)) ? [] : [path]));
}

/** By the names that a file has for them. */
function flatten({ embedding, ...sections }: ReturnType<typeof fixedPartOf>): Map<string, unknown> {
  const { kind } = embedding;
  const model = kind === 'builtin' ? null : embedding.model;
  const provider = kind === 'endpoint' ? embedding.provider : kind;
  return new Map(
    Object.entries({ ...sections, embedding: { provider, model } }).flatMap(([section, values]: [string, object]) =>
      Object.entries(values).map(([key, value]) => [`${section}.${key}`, value]),
    ),
  );
}

function sameValues(one: Settings, other: Settings): boolean {
  const functions = { target: null, isConfigured: null };
  return isDeepStrictEqual({ ...one, ...functions }, { ...other, ...functions });
}
