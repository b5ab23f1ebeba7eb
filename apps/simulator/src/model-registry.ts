import type { Clock } from '@spillway/contracts';
import { ModelState, type ModelStats } from './model-state';
import { Script, type ScriptedRequest, type Step } from './script';
import { DEFAULT_MODEL, type ModelPatch, type SimulatedModel } from './settings';
import { withPatch } from './settings-patch';

/** Names that nobody configured get a model as they come, up to this many. */
const MOST_MODELS = 10_000;
/** The name of the script that any request may use, whatever its model or path. */
const ANY_MODEL = '*';

export interface RegistryOptions {
  readonly models?: Readonly<Record<string, ModelPatch>> | undefined;
  /** What a model is like where nothing else is said. */
  readonly defaultModel?: ModelPatch | undefined;
  /** Only configured models exist. */
  readonly strict?: boolean | undefined;
}

/** The models of one simulator. */
export class ModelRegistry {
  private readonly defaults: SimulatedModel;
  private readonly models = new Map<string, ModelState>();
  private anyScript: Script | null = null;

  constructor(
    private readonly options: RegistryOptions,
    private readonly clock: Clock,
  ) {
    this.defaults = withPatch(DEFAULT_MODEL, options.defaultModel ?? {});
    this.reset();
  }

  /** null: there is no such model. */
  find(name: string): ModelState | null {
    const known = this.models.get(name);
    if (known !== undefined) return known;
    return this.options.strict === true || this.models.size >= MOST_MODELS ? null : this.create(name);
  }

  configure(name: string, patch: ModelPatch): ModelState {
    const model = this.models.get(name) ?? this.create(name);
    model.configure(patch);
    return model;
  }

  /** Forgets a model: its settings, its script and its counts. */
  remove(name: string): void {
    this.models.delete(name);
  }

  script(name: string, steps: readonly Step[]): void {
    const script = steps.length === 0 ? null : new Script(steps);
    if (name === ANY_MODEL) this.anyScript = script;
    else (this.models.get(name) ?? this.create(name)).script = script;
  }

  /** The scripted answer to a request; null: there is none. */
  step(model: ModelState | null, request: ScriptedRequest): Step | null {
    return model?.script?.pick(request) ?? this.anyScript?.pick(request) ?? null;
  }

  names(): string[] {
    return [...this.models.keys()];
  }

  stats(): Record<string, ModelStats> {
    return Object.fromEntries([...this.models].map(([name, model]) => [name, model.stats()]));
  }

  /** Back to how it started. */
  reset(): void {
    this.models.clear();
    this.anyScript = null;
    for (const [name, patch] of Object.entries(this.options.models ?? {})) this.configure(name, patch);
  }

  private create(name: string): ModelState {
    const model = new ModelState(name, this.defaults, this.clock);
    this.models.set(name, model);
    return model;
  }
}
