import type { Call, JsonValue } from '@spillway/contracts';
import { Groups } from '../groups';
import { AnswerLengths, type AnswersUnderWay } from './answer-lengths';

/** What of a call shapes the length of its answer. */
export type PredictedCall = Pick<Call, 'body' | 'route' | 'priority' | 'streaming'>;

/**
 * Before there is anything to learn from. Nine of ten chat answers are shorter than about this, while reserving all of
 * a generous `max_tokens` would leave most of the limit unused in the very minutes after a start.
 */
const DEFAULT_OUTPUT_TOKENS = 512;

const MEDIAN = 0.5;

/** The group of all calls. */
const ALL = 'all';

const GROUPS = 4000;

/** More choices than a provider would make of one call. */
const MOST_CHOICES = 128;

const NOTHING_KNOWN = new AnswerLengths();

/** Predicts how long an answer gets from the answers to similar calls. */
export class OutputPrediction {
  private readonly groups = new Groups(GROUPS, () => new AnswerLengths());

  /** `quantile`: share of the calls that shall not need more than predicted. */
  constructor(private readonly quantile = 0.9) {}

  /** What a long answer has: output tokens of all choices, in whole tokens, never above what the caller allows. */
  predict(call: PredictedCall, inputTokens: number): number {
    const long = this.known(call, inputTokens)?.quantile(this.quantile) ?? DEFAULT_OUTPUT_TOKENS;
    return ofAllChoices(call, long);
  }

  /** What to reserve of a limit that it shares with others: output tokens, as of `predict`. */
  reserve(call: PredictedCall, inputTokens: number, underWay: AnswersUnderWay): number {
    const all = this.groups.anyOf(ALL) ?? NOTHING_KNOWN;
    return ofAllChoices(call, (this.known(call, inputTokens) ?? all).reserve(underWay, all));
  }

  /** What all choices of such an answer usually have, within what the caller allows; null: too few are known. */
  usual(call: PredictedCall, inputTokens: number): number | null {
    const lengths = this.known(call, inputTokens);
    if (lengths === null) return null;
    return Math.min(allowedOutput(call) ?? Infinity, lengths.quantile(MEDIAN)) * choicesOf(call);
  }

  /** What the caller allows for all choices; null: it does not say. */
  allowed(call: PredictedCall): number | null {
    const allowed = allowedOutput(call);
    return allowed === null ? null : allowed * choicesOf(call);
  }

  /** Returns what takes in how many tokens all choices of an answer had, and does not keep the call until then. */
  learning(call: PredictedCall, inputTokens: number, outputTokens: number): () => void {
    if (!Number.isFinite(outputTokens) || outputTokens <= 0) return () => undefined;
    const groups = groupsOf(call, inputTokens);
    const perChoice = outputTokens / choicesOf(call);
    return () => groups.forEach(group => this.groups.add(group, perChoice));
  }

  /** Of the most similar calls of which there are enough; null: there are none. */
  private known(call: PredictedCall, inputTokens: number): AnswerLengths | null {
    for (const group of groupsOf(call, inputTokens)) {
      const known = this.groups.known(group);
      if (known !== null) return known;
    }
    return null;
  }
}

function ofAllChoices(call: PredictedCall, tokens: number): number {
  return Math.ceil(Math.min(allowedOutput(call) ?? Infinity, tokens)) * choicesOf(call);
}

/** The groups of similar calls that a call belongs to, the most similar first, all calls last. */
function groupsOf(call: PredictedCall, inputTokens: number): readonly string[] {
  const { name } = call.route;
  const allowedOctave = allowedOctaveOf(call);
  return [
    `${call.priority} ${octaveOf(inputTokens)} ${allowedOctave} ${call.streaming} ${name}`,
    `${call.priority} ${allowedOctave} ${name}`,
    `route ${name}`,
    ALL,
  ];
}

/** What of calls is alike where they allow about as long an answer. */
export function allowedOctaveOf(call: Pick<PredictedCall, 'body'>): number | 'any' {
  const allowed = allowedOutput(call);
  return allowed === null ? 'any' : octaveOf(allowed);
}

function octaveOf(tokens: number): number {
  return Math.floor(Math.log2(Math.max(1, tokens)));
}

/** What the caller allows for one choice; null: it does not say. */
function allowedOutput({ body }: Pick<PredictedCall, 'body'>): number | null {
  const bounds = [body.max_completion_tokens, body.max_tokens].filter(isCount);
  return bounds.length > 0 ? Math.floor(Math.min(...bounds)) : null;
}

function choicesOf({ body }: PredictedCall): number {
  return isCount(body.n) ? Math.min(MOST_CHOICES, Math.max(1, Math.floor(body.n))) : 1;
}

function isCount(value: JsonValue | undefined): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
