import type { JsonObject, QualitySignal } from '@spillway/contracts';
import type { AnswerSample } from './answer-sample';
import { repeatedShare } from './repetition';

/** An answer that came, and what was to be expected of it. */
export interface InspectedAnswer {
  readonly sample: Pick<AnswerSample, 'text' | 'isWhole' | 'finishReason' | 'callsTools'>;
  /** Of all choices; null: not reported. */
  readonly outputTokens: number | null;
  /** Output tokens that answers of its kind usually have; null: not known. */
  readonly usualTokens: number | null;
  /** Output tokens that the caller allowed; null: it did not say. */
  readonly allowedTokens: number | null;
  readonly wantsJson: boolean;
  readonly isStream: boolean;
  /** How long the model wrote: from the first content of a stream, else from the call; ms. */
  readonly writingMs: number;
  /** Whether its model answers the canary questions badly. */
  readonly failsCanary: boolean;
}

/**
 * What an answer with this signal counts, where a failed call counts 1. Repetition 0.4, stopping early 0.3 and failed
 * canary questions 0.3 are what operators of large fleets found to work; the others are placed beside them by how much of the answer is lost. `empty`
 * is a failure of its own.
 */
export const SIGNAL_WEIGHTS: Readonly<Record<QualitySignal, number>> = {
  repetition: 0.4,
  short: 0.3,
  empty: 1,
  truncated: 0.4,
  filtered: 0.2,
  json: 0.4,
  speed: 0.3,
  canary: 0.3,
};

/** The share of repeated trigrams from which an answer runs in circles. */
const REPETITIVE = 0.08;
/** An answer is short below this share of its usual length. */
const SHORT = 0.6;

/** What is wrong with an answer that can be told from this answer alone; `isOn`: what is looked for. */
export function signalsIn(answer: InspectedAnswer, isOn: (signal: QualitySignal) => boolean): QualitySignal[] {
  const found: QualitySignal[] = [];
  if (isOn('repetition') && repeatedShare(answer.sample.text) > REPETITIVE) found.push('repetition');
  if (isOn('truncated') && isTruncated(answer)) found.push('truncated');
  if (isOn('filtered') && answer.sample.finishReason === 'content_filter') found.push('filtered');
  if (isOn('json') && isBrokenJson(answer)) found.push('json');
  if (isOn('canary') && answer.failsCanary) found.push('canary');
  return found;
}

/** Whether an answer ended by itself far before answers of its kind do. */
export function isShort({ sample, outputTokens, usualTokens }: InspectedAnswer): boolean {
  if (outputTokens === null || usualTokens === null || sample.callsTools) return false;
  return sample.finishReason === 'stop' && outputTokens < SHORT * usualTokens;
}

/** Whether a request asks for JSON and nothing else. */
export function wantsJson({ response_format: format }: JsonObject): boolean {
  const type = (format as JsonObject | null | undefined)?.['type'];
  return type === 'json_object' || type === 'json_schema';
}

/** Cut off by the model, not by what the caller allowed. */
function isTruncated({ sample, outputTokens, allowedTokens }: InspectedAnswer): boolean {
  if (sample.finishReason !== 'length') return false;
  return allowedTokens === null || (outputTokens !== null && outputTokens < allowedTokens);
}

function isBrokenJson({ sample, wantsJson: isWanted }: InspectedAnswer): boolean {
  if (!isWanted || !sample.isWhole || sample.callsTools || sample.finishReason !== 'stop') return false;
  try {
    JSON.parse(sample.text);
    return false;
  } catch {
    return true;
  }
}
