import type { JsonObject, Observed, Overload, Usage } from '@spillway/contracts';
import { observedLimits } from '@spillway/providers';
import { composeAnswer } from '../../../simulator/src/chat-answer';
import { limitHeaders } from '../../../simulator/src/families';
import type { LimitReason } from '../../../simulator/src/limits';
import type { ModelState, ModelStats } from '../../../simulator/src/model-state';
import { ModelRegistry } from '../../../simulator/src/model-registry';
import { jitterFactor } from '../../../simulator/src/random';
import type { FaultKind, ModelPatch } from '../../../simulator/src/settings';
import { promptTokensOf } from '../../../simulator/src/tokens';
import type { VirtualTime } from './virtual-time';

/** What a model made of a call. */
export type VirtualAnswer =
  | { readonly kind: 'answer'; readonly usage: Usage; readonly observed: Observed }
  | { readonly kind: 'failure'; readonly status: number; readonly observed: Observed };

const OVERLOADS: Readonly<Record<LimitReason, Overload>> = {
  inflight: 'inflight',
  rpm: 'requests',
  tpm: 'tokens',
  tpd: 'tokens',
  growth: 'slope',
};
const SLOW_FACTOR = 10;

/** The simulator's models, with the limits, lengths and chances that it has over HTTP, in virtual time. */
export class VirtualProvider {
  private readonly registry: ModelRegistry;

  constructor(
    models: Readonly<Record<string, ModelPatch>>,
    private readonly time: VirtualTime,
  ) {
    this.registry = new ModelRegistry({ models, strict: true }, time);
  }

  configure(name: string, patch: ModelPatch): void {
    this.registry.configure(name, patch);
  }

  /** Calls a model; `done` is told the answer at its time, unless the returned function was called before. */
  call(name: string, body: JsonObject, done: (answer: VirtualAnswer) => void): () => void {
    const model = this.model(name);
    const answer = composeAnswer(body, model.settings.answer, model.random);
    const usage = { input: promptTokensOf(body), output: answer.pieces.length };
    const admission = model.limits.admit(usage.input + usage.output);
    if (!admission.admitted) {
      model.countRefusal(admission.reason);
      const observed = {
        ...told(model, this.time.now()),
        overload: OVERLOADS[admission.reason],
        retryAfterMs: admission.retryAfterMs,
      };
      return this.answerLater(0, () => done({ kind: 'failure', status: 429, observed }));
    }
    model.count('accepted');
    model.count('tokens_in', usage.input);
    const fault = model.nextFault();
    const failure = failureOf(fault?.kind, fault?.status);
    const observed = told(model, this.time.now());
    const slowness =
      jitterFactor(model.random, model.settings.latency.jitter) *
      (fault?.kind === 'slow' ? (fault.factor ?? SLOW_FACTOR) : 1);
    const cancel = this.answerLater(failure === null ? answerMs(model, usage.output, slowness) : 0, () => {
      model.limits.release();
      if (failure !== null) return done({ kind: 'failure', status: failure, observed });
      model.count('tokens_out', usage.output);
      done({ kind: 'answer', usage, observed });
    });
    return () => {
      if (cancel()) model.limits.release();
    };
  }

  stats(): Readonly<Record<string, ModelStats>> {
    return this.registry.stats();
  }

  private model(name: string): ModelState {
    const model = this.registry.find(name);
    if (model === null) throw new Error(`The provider has no model ${name}.`);
    return model;
  }

  /** The returned function says whether it came in time to prevent the answer. */
  private answerLater(ms: number, work: () => void): () => boolean {
    let isOpen = true;
    const close = (): boolean => {
      const was = isOpen;
      isOpen = false;
      return was;
    };
    this.time.after(ms, () => {
      if (close()) work();
    });
    return close;
  }
}

function answerMs({ settings }: ModelState, tokens: number, slowness: number): number {
  const { first_token_ms, tokens_per_s } = settings.latency;
  return slowness * (first_token_ms + (tokens_per_s === 0 ? 0 : (tokens * 1000) / tokens_per_s));
}

/** The status of a call that gets no answer; null: it gets one. Faults of quality are answers, as nobody reads them. */
function failureOf(kind: FaultKind | undefined, status = 500): number | null {
  switch (kind) {
    case 'status':
    case 'html':
      return status;
    case 'hang':
    case 'reset':
    case 'refuse':
    case 'truncated':
    case 'malformed':
      return 502;
    default:
      return null;
  }
}

/** What an answer's headers tell a router, in the words of the model's vendor. */
function told({ settings, limits }: ModelState, now: number): Observed {
  const headers = limitHeaders(settings.family, limits.calls(), limits.tokens(), now);
  return {
    overload: null,
    retryAfterMs: null,
    limits: observedLimits(new Map(Object.entries(headers)), now),
  };
}
