import type { Call, Observed, TurnEnd, Usage } from '@spillway/contracts';
import { ADAPTIVE } from './adaptive-settings';
import { AdaptiveStore, type Known, type Move } from './adaptive-store';
import { LatencyWindow } from './latency-window';
import { freshState, nextLimit, type AdaptiveState } from './next-limit';
import { sizeOf, type TimedCall } from './sizes';

/** A call of a model that has ended. */
export interface EndedCall {
  readonly call: TimedCall & { readonly journal: Pick<Call['journal'], 'firstContentMs' | 'upstreamMs'> };
  readonly end: TurnEnd;
  readonly usage: Usage | null;
  readonly observed: Observed | undefined;
  /** Tokens that were reserved for it. */
  readonly reserved: number;
}

/** Which models there are; what callers name besides is not remembered. */
export interface AdaptedModels {
  isConfigured(model: string): boolean;
  /** Whether its in-flight limit adapts. */
  isAdaptive(model: string): boolean;
}

interface KnownState {
  readonly text: string;
  readonly state: AdaptiveState;
}

/**
 * What this process has seen of the latency of models, and the in-flight limits that all processes draw from it. A call
 * weighs one here, as it does in the law: sizes only keep long answers from looking like a slow model.
 */
export class AdaptiveLimits {
  private readonly states = new Map<string, KnownState>();
  private readonly windows = new Map<string, LatencyWindow>();
  private firstUses: ReadonlyMap<string, number> = new Map();
  /** Models whose use is not noted yet. */
  private readonly used = new Set<string>();

  constructor(
    private readonly store: AdaptiveStore,
    private readonly models: AdaptedModels,
  ) {}

  /** Null: none. */
  limitOf(model: string): number | null {
    const reach = this.states.get(model)?.state.reach;
    return reach?.kind === 'bound' ? Math.floor(reach.limit) : null;
  }

  /** When an installation first used a model, ms since the epoch; null: never, as far as it is known. */
  firstUseOf(model: string): number | null {
    return this.firstUses.get(model) ?? null;
  }

  /** Latency of a model over its baseline, when the limit last moved; null: nothing known yet. */
  slownessOf(model: string): number | null {
    return this.states.get(model)?.state.slowness ?? null;
  }

  /** Takes in how a call ended. A caller that left tells nothing, nor does a refusal for a limit of another kind. */
  learn(model: string, { call, end, usage, observed, reserved }: EndedCall): void {
    if (end === 'ignored' || !this.models.isConfigured(model)) return;
    if (!this.firstUses.has(model)) this.used.add(model);
    if (!this.models.isAdaptive(model)) return;
    if (end === 'dropped') {
      if (isOfConcurrency(observed)) this.windowOf(model).addDrop();
      return;
    }
    const ms = call.streaming ? call.journal.firstContentMs : call.journal.upstreamMs;
    if (ms !== null) this.windowOf(model).addCall(sizeOf(call, usage, reserved), ms);
  }

  /**
   * Moves limits on by what was seen, and takes over what other processes have moved.
   * `inflight`: asked only when there is something to move.
   */
  async exchange(inflight: () => Promise<Readonly<Record<string, number>>>): Promise<void> {
    const used = [...this.used];
    const known = await this.store.exchange(used, []);
    for (const model of used) this.used.delete(model);
    this.take(known);
    if (this.windows.size === 0) return;
    const counts = await inflight();
    const moves = [...this.windows].flatMap(([model, window]) => {
      window.addInflight(counts[model] ?? 0);
      return this.moveOf(model, window, known.now);
    });
    if (moves.length === 0) return;
    const after = await this.store.exchange([], moves);
    // A window whose move came too late is kept for the next one.
    for (const { model, to } of moves) if (after.states.get(model) === to) this.windows.delete(model);
    this.take(after);
  }

  private moveOf(model: string, window: LatencyWindow, now: number): readonly Move[] {
    const known = this.states.get(model);
    const state = known?.state ?? freshState(0);
    const next = nextLimit(state, window.sample(now), ADAPTIVE);
    return next === state ? [] : [{ model, from: known?.text ?? null, to: JSON.stringify(next) }];
  }

  private take({ states, firstUses }: Known): void {
    for (const [model, text] of states) {
      if (this.states.get(model)?.text !== text) this.states.set(model, { text, state: parse(text) });
    }
    for (const model of this.states.keys()) if (!states.has(model)) this.states.delete(model);
    this.firstUses = firstUses;
  }

  private windowOf(model: string): LatencyWindow {
    const known = this.windows.get(model);
    if (known !== undefined) return known;
    const window = new LatencyWindow();
    this.windows.set(model, window);
    return window;
  }
}

/** Limits of requests, tokens and slope are kept by the rate; only the rest is of how many calls there are at a time. */
function isOfConcurrency(observed: Observed | undefined): boolean {
  const overload = observed?.overload ?? null;
  return overload === null || overload === 'inflight' || overload === 'overloaded';
}

function parse(text: string): AdaptiveState {
  return JSON.parse(text) as AdaptiveState;
}
