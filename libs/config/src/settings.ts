import type { ModelSettings, Priority, PrioritySettings, ProviderSettings, RouteSettings } from '@spillway/contracts';
import type { Configuration } from './schema';

type Section<Name extends keyof Configuration> = Readonly<Configuration[Name]>;
type Model = Configuration['models'][string];

export type ServerSettings = Section<'server'>;
export type ClassifyRule = Readonly<Configuration['classify'][number]>;

/** A model with all that is configured of it. */
export interface ConfiguredModel extends ModelSettings {
  /** Whether its in-flight limit adapts where none is given. */
  readonly adaptive_inflight: boolean;
  /** Absent: no limit of the slope until the provider signals one. */
  readonly growth?: Readonly<NonNullable<Model['growth']>> | undefined;
  readonly climb: Readonly<Model['climb']>;
  readonly breaker: Readonly<Model['breaker']>;
  readonly warmup?: Readonly<NonNullable<Model['warmup']>> | undefined;
  readonly load_url?: string | undefined;
}

/** A route with all that is configured of it; its models are the same objects as in `Settings.models`. */
export interface ConfiguredRoute extends RouteSettings {
  readonly chain: readonly ConfiguredModel[];
  readonly chain_by_priority: Readonly<Partial<Record<Priority, readonly ConfiguredModel[]>>>;
  /** Where a class goes under high load. */
  readonly shed_to: Readonly<Partial<Record<Priority, ConfiguredModel>>>;
}

/** What turns text into vectors. */
export type EmbeddingSettings =
  | { readonly kind: 'builtin' }
  /** `model`: a folder, or a name on the Hugging Face hub. */
  | { readonly kind: 'onnx'; readonly model: string }
  | { readonly kind: 'endpoint'; readonly provider: ProviderSettings; readonly model: string };

/** The whole configuration, valid, complete and with its references resolved. */
export interface Settings {
  /** The file it came from; null: built in. */
  readonly file: string | null;
  readonly server: ServerSettings;
  readonly redis: Section<'redis'>;
  readonly qdrant: Section<'qdrant'>;
  readonly providers: ReadonlyMap<string, ProviderSettings>;
  readonly models: ReadonlyMap<string, ConfiguredModel>;
  readonly routes: ReadonlyMap<string, ConfiguredRoute>;
  /** Who is asked for models that are not configured. */
  readonly passthrough: ProviderSettings | null;
  readonly priorities: Readonly<Record<Priority, PrioritySettings>>;
  readonly high_load: Section<'high_load'>;
  readonly health: Section<'health'>;
  readonly classify: readonly ClassifyRule[];
  readonly keys: readonly Readonly<Configuration['keys'][number]>[];
  readonly users: Section<'users'>;
  readonly admin: Section<'admin'>;
  readonly cache: Section<'cache'>;
  readonly embedding: EmbeddingSettings;
  readonly scheduling: Section<'scheduling'>;
  readonly async: Section<'async'>;
  readonly seeding: Section<'seeding'>;
  readonly log: Section<'log'>;
  /** Whether a route or a model has this name; other names come from callers and are no labels. */
  isConfigured(name: string): boolean;
  /** What a request's `model` names: a route, a model alone, or one that is passed through. */
  target(name: string): ConfiguredRoute | undefined;
}
