import type { Clock } from '@spillway/contracts';
import { FaultDice } from './faults';
import { ModelLimits, type LimitReason } from './limits';
import { seededRandom, type Random } from './random';
import type { Script } from './script';
import type { FaultKind, ModelPatch, SimulatedModel } from './settings';
import { withPatch } from './settings-patch';

/** What has happened to one model since the start or the last reset. */
export interface ModelStats {
  readonly requests: number;
  /** Calls that the limits let in, whatever became of them, and scripted ones. */
  readonly accepted: number;
  readonly refused: Readonly<Record<LimitReason, number>>;
  /** Faults played, by kind. */
  readonly faults: Readonly<Partial<Record<FaultKind, number>>>;
  readonly scripted: number;
  readonly tokens_in: number;
  /** Tokens that went out; of an answer that was left, those before. */
  readonly tokens_out: number;
  readonly inflight: number;
  readonly peak_inflight: number;
  /** Calls whose caller left before the end. */
  readonly aborted: number;
}

/** One simulated model: its settings, its limits and its counts. */
export class ModelState {
  readonly limits: ModelLimits;
  random: Random;
  script: Script | null = null;
  private dice: FaultDice;
  private readonly counts = {
    requests: 0,
    accepted: 0,
    scripted: 0,
    tokens_in: 0,
    tokens_out: 0,
    aborted: 0,
  };
  private readonly refused: Record<LimitReason, number> = { inflight: 0, rpm: 0, tpm: 0, tpd: 0, growth: 0 };
  private readonly faults: Partial<Record<FaultKind, number>> = {};

  constructor(
    readonly name: string,
    private current: SimulatedModel,
    clock: Clock,
  ) {
    this.limits = new ModelLimits(current, clock);
    this.random = seededRandom(current.seed);
    this.dice = new FaultDice(current.faults, this.random);
  }

  get settings(): SimulatedModel {
    return this.current;
  }

  /** Changes the settings at once; calls under way keep what they began with. */
  configure(patch: ModelPatch): void {
    const next = withPatch(this.current, patch);
    const reseeded = patch.seed !== undefined;
    if (reseeded) this.random = seededRandom(next.seed);
    if (reseeded || patch.faults !== undefined) this.dice = new FaultDice(next.faults, this.random);
    this.limits.reconfigure(next);
    this.current = next;
  }

  nextFault(): ReturnType<FaultDice['next']> {
    const fault = this.dice.next();
    if (fault !== null) this.faults[fault.kind] = (this.faults[fault.kind] ?? 0) + 1;
    return fault;
  }

  count(what: keyof ModelState['counts'], by = 1): void {
    this.counts[what] += by;
  }

  countRefusal(reason: LimitReason): void {
    this.refused[reason] += 1;
  }

  stats(): ModelStats {
    return {
      ...this.counts,
      refused: { ...this.refused },
      faults: { ...this.faults },
      inflight: this.limits.inflight,
      peak_inflight: this.limits.peakInflight,
    };
  }
}
