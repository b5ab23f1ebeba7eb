import type { Family, Refusal } from './vendor';

/** Use in one period over use in the period before it; see `growth-limit.ts` for the exact rule. */
export interface GrowthLimit {
  /** 0.2: at most a fifth more than in the period before. */
  readonly max_ratio: number;
  /** Seconds of a period. */
  readonly per_s: number;
  /** Calls per second that are always allowed. */
  readonly floor_rps: number;
  /** Tokens per second that are always allowed; absent: the growth of tokens is not limited. */
  readonly floor_tps?: number;
}

/** Tokens of an answer: always the same, uniform in `min..max`, or log-normal and clamped to `min..max`. */
export type TokenSpread =
  | number
  | {
      readonly min: number;
      readonly max: number;
      readonly lognormal?: { readonly median: number; readonly sigma: number };
    };

export const FAULT_KINDS = [
  'status',
  'hang',
  'reset',
  'refuse',
  'slow',
  'html',
  'empty',
  'short',
  'truncated',
  'no-finish',
  'error-event',
  'malformed',
  'repeat',
  'content-filter',
  'drip',
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

export interface Fault {
  readonly kind: FaultKind;
  /** Share of the calls that it strikes; default 1. */
  readonly probability?: number;
  /** Calls that it lets pass first; default 0. */
  readonly after?: number;
  /** Calls that it strikes at most; absent: no end. */
  readonly times?: number;
  /** `status` and `html`: the HTTP status. */
  readonly status?: number;
  /** `status`: the refusal that is told in the words of the model's family. */
  readonly reason?: Refusal;
  /** `status` with a reason: the wait that is advised. */
  readonly retry_after_ms?: number;
  /** Pieces of a stream that go out before it strikes; for `hang` and `reset` absent means before any answer. */
  readonly after_chunks?: number;
  /** `slow`: how many times slower; default 10. */
  readonly factor?: number;
  /** `drip`: time between two drops; default 1000. */
  readonly every_ms?: number;
}

/** How one model behaves. 0 means no limit, no latency. */
export interface SimulatedModel {
  readonly limits: {
    readonly rpm: number;
    readonly tpm: number;
    readonly tpd: number;
    readonly inflight: number;
    readonly growth: GrowthLimit | null;
  };
  /** Seconds of the window of `rpm` and `tpm`; smaller compresses time. */
  readonly window_s: number;
  /** Seconds of the window of `tpd`. */
  readonly day_s: number;
  /** Whether refused calls use up `rpm`. */
  readonly count_refused: boolean;
  readonly latency: {
    readonly first_token_ms: number;
    readonly tokens_per_s: number;
    /** 0.2: each call's latency is scaled by something between 0.8 and 1.2. */
    readonly jitter: number;
  };
  readonly answer: {
    readonly mode: 'echo' | 'fixed' | 'lengths';
    readonly text: string;
    readonly tokens: TokenSpread;
    /** `lengths`: the first line is what `echo` says, so that a reader can tell whose answer it is. */
    readonly quote: boolean;
  };
  /** Whose headers and errors it speaks. */
  readonly family: Family;
  /** The first that strikes is played. */
  readonly faults: readonly Fault[];
  /** Of an embedding, unless the call asks for another number. */
  readonly dimensions: number;
  /** Of everything random: equal seeds repeat equal runs. */
  readonly seed: number;
}

/** A change: objects are merged; `growth`, `tokens` and `faults` are replaced as a whole. */
export type ModelPatch = Partial<Omit<SimulatedModel, 'limits' | 'latency' | 'answer'>> & {
  readonly limits?: Partial<SimulatedModel['limits']>;
  readonly latency?: Partial<SimulatedModel['latency']>;
  readonly answer?: Partial<SimulatedModel['answer']>;
};

export const DEFAULT_MODEL: SimulatedModel = {
  limits: { rpm: 0, tpm: 0, tpd: 0, inflight: 0, growth: null },
  window_s: 60,
  day_s: 86_400,
  count_refused: false,
  latency: { first_token_ms: 50, tokens_per_s: 200, jitter: 0 },
  answer: { mode: 'echo', text: "This is Spillway's simulator, not a real model.", tokens: 100, quote: false },
  family: 'openai',
  faults: [],
  dimensions: 256,
  seed: 1,
};
