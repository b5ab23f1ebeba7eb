import type { CanaryRecord, ModelRecord } from '../model-record';

/** The answers of a model to all questions of one time. */
export interface CanaryAnswers {
  readonly asked: string;
  /** How near each answer is to the known one, and how near it must be at least; both from 0 to 1. */
  readonly scores: readonly { readonly score: number; readonly least: number }[];
  /** When the questions are due again, ms. */
  readonly nextInMs: number;
  /** So long the answers count, ms, unless there are others. */
  readonly countMs: number;
}

/** The same, as an operator sees it. */
export interface CanaryReport {
  /** BLEU-4 of the last answers, 0 to 1; null: none has come. */
  readonly score: number | null;
  /** What it was the times before; null: too few to tell. */
  readonly usual: number | null;
  readonly failed: boolean;
  /** When the last answers came, ISO 8601. */
  readonly at: string | null;
  readonly nextInMs: number;
}

/** So many times before are usual, and fewer make no habit. */
const USUAL = 5;
/** A mean score that has fallen by this share of the usual one is a failure: what operators of large fleets use. */
const FALLEN = 0.12;

/** A model that is paused or down is not asked: that is known already, and its probes ask less. */
export function isCanaryDue({ state, pausedSince, canary }: ModelRecord, now: number): boolean {
  const isUsed = state.kind === 'closed' || state.kind === 'degraded';
  return isUsed && pausedSince === null && now >= (canary?.dueAt ?? 0);
}

/** The record with the questions taken for as long as the answers may take; null: they are not due. */
export function withCanaryClaim(record: ModelRecord, now: number, longestMs: number): ModelRecord | null {
  if (!isCanaryDue(record, now)) return null;
  return { ...record, canary: { ...(record.canary ?? NOTHING), dueAt: now + longestMs } };
}

/** What is known after one more time. Pure. */
export function afterAnswers(before: CanaryRecord | null, answers: CanaryAnswers, now: number): CanaryRecord {
  const { asked, scores, nextInMs, countMs } = answers;
  const kept = before ?? NOTHING;
  const earlier = kept.asked === asked ? kept.scores.slice(-USUAL) : [];
  const score = meanOf(scores.map(one => one.score));
  const usual = usualOf(earlier);
  const hasFallen = usual !== null && score <= (1 - FALLEN) * usual;
  const failed = hasFallen || scores.some(one => one.score < one.least);
  return {
    dueAt: now + nextInMs,
    asked,
    scores: [...earlier, score],
    toldAt: now,
    failedUntil: failed ? now + countMs : 0,
  };
}

export function failsCanary({ failedUntil }: CanaryRecord, now: number): boolean {
  return now < failedUntil;
}

export function canaryReport(record: CanaryRecord, now: number): CanaryReport {
  const { scores, toldAt, dueAt } = record;
  const [score = null, usual] = [scores.at(-1), usualOf(scores.slice(0, -1))];
  return {
    score: rounded(score),
    usual: rounded(usual),
    failed: failsCanary(record, now),
    at: score === null ? null : new Date(toldAt).toISOString(),
    nextInMs: Math.max(0, dueAt - now),
  };
}

const NOTHING: CanaryRecord = { dueAt: 0, asked: '', scores: [], toldAt: 0, failedUntil: 0 };

function usualOf(earlier: readonly number[]): number | null {
  return earlier.length < USUAL ? null : meanOf(earlier);
}

function meanOf(scores: readonly number[]): number {
  return scores.reduce((sum, score) => sum + score, 0) / scores.length;
}

function rounded(score: number | null): number | null {
  return score === null ? null : Math.round(score * 1000) / 1000;
}
