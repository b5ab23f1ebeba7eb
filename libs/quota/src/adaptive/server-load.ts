/** What a model server tells of its own load. */
export interface ServerLoad {
  /** Share of its KV cache in use, that of its fullest engine. */
  readonly cacheUse: number;
  /** Tokens that its running calls have written, on average; null: it does not say. */
  readonly steps: number | null;
}

/** Older versions of vLLM call it by the second name. */
const CACHE_USE = ['vllm:kv_cache_usage_perc', 'vllm:gpu_cache_usage_perc'];
/** Not of vLLM, which does not tell: for whoever adds it to the page. */
const STEPS = ['spillway_running_generation_tokens'];
/** Steps after which a call weighs so much that only a third of the rate is left. */
const STEPS_SCALE = 512;
/** Processes poll at different times; in steps they mostly tell the law the same. Zero would be no limit at all. */
const GRAIN = 0.05;

/** Reads a page in the text format of Prometheus; null: it does not tell the load. */
export function readLoad(page: string): ServerLoad | null {
  const cacheUse = mostOf(page, CACHE_USE);
  return cacheUse === null ? null : { cacheUse: Math.min(1, Math.max(0, cacheUse)), steps: mostOf(page, STEPS) };
}

/** The share of the token rate that a server with this load is given. */
export function loadFactor({ cacheUse, steps }: ServerLoad): number {
  const weight = (1 - cacheUse) * Math.exp(-Math.max(0, steps ?? 0) / STEPS_SCALE);
  return Math.max(1, Math.round(weight / GRAIN)) * GRAIN;
}

function mostOf(page: string, names: readonly string[]): number | null {
  let most: number | null = null;
  for (const line of page.split('\n')) {
    const [, name = '', value] = SAMPLE.exec(line) ?? [];
    const number = names.includes(name) ? Number(value) : NaN;
    if (Number.isFinite(number)) most = Math.max(most ?? number, number);
  }
  return most;
}

/** Name, labels (in quotes they may hold anything), value. */
const SAMPLE = /^\s*([a-zA-Z_:][\w:]*)\s*(?:\{(?:[^"}]|"(?:[^"\\]|\\.)*")*\})?\s+(\S+)/;
