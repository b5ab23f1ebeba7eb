import type { QualitySignal } from '@spillway/contracts';
import { isShort, signalsIn, SIGNAL_WEIGHTS, type InspectedAnswer } from './signals';

/** What was found in an answer, and what it counts: 0 a good one, 1 a failure. */
export interface QualityFinding {
  readonly signals: readonly QualitySignal[];
  readonly weight: number;
}

/** What this process remembers of a model. */
interface Habits {
  /** Answers whose length could be compared, and the share of the last ones that were short. */
  compared: number;
  shortShare: number;
  /** Of streams and of whole answers, which wait for their first token as well. */
  readonly streamed: Speed;
  readonly whole: Speed;
}

interface Speed {
  calls: number;
  /** Usual tokens a second. */
  usual: number;
}

/** Fewer answers make no habit. */
const ENOUGH = 20;
/** The last answers that decide about a share. */
const REMEMBERED = 50;
/** Some short answers are usual: from this share of them on a model stops early. */
const SHORT_SHARE = 0.35;
/** A model has collapsed below this share of its usual speed. */
const COLLAPSED = 1 / 3;
/** Step of the usual speed towards that of one answer, in the logarithm. */
const STEP = 0.05;
/** Speeds of shorter answers are noise: tokens, and ms. */
const LEAST_TOKENS = 20;
const LEAST_MS = 200;

/** Looks at answers that came, and tells what is bad in them: by themselves, and against the habits of their model. */
export class QualityWatch {
  private readonly models = new Map<string, Habits>();

  /** `model`: one of a bounded set of names; `isOn`: the signals that count. */
  inspect(model: string, answer: InspectedAnswer, isOn: (signal: QualitySignal) => boolean): QualityFinding {
    const habits = this.habitsOf(model);
    const signals = signalsIn(answer, isOn);
    if (stoppedEarly(habits, answer) && isOn('short')) signals.push('short');
    if (hasCollapsed(answer.isStream ? habits.streamed : habits.whole, answer) && isOn('speed')) signals.push('speed');
    const weight = signals.reduce((sum, signal) => sum + SIGNAL_WEIGHTS[signal], 0);
    return { signals, weight: Math.min(1, weight) };
  }

  private habitsOf(model: string): Habits {
    let habits = this.models.get(model);
    if (habits === undefined) {
      habits = { compared: 0, shortShare: 0, streamed: { calls: 0, usual: 0 }, whole: { calls: 0, usual: 0 } };
      this.models.set(model, habits);
    }
    return habits;
  }
}

/** Takes in the length of an answer; true: it is short, and too many are. */
function stoppedEarly(habits: Habits, answer: InspectedAnswer): boolean {
  if (answer.outputTokens === null || answer.usualTokens === null) return false;
  const short = isShort(answer);
  habits.compared += 1;
  habits.shortShare += ((short ? 1 : 0) - habits.shortShare) / Math.min(habits.compared, REMEMBERED);
  return short && habits.compared >= ENOUGH && habits.shortShare > SHORT_SHARE;
}

/** Takes in the speed of an answer; true: it is far below the usual one. */
function hasCollapsed(speed: Speed, { outputTokens, writingMs }: InspectedAnswer): boolean {
  if (outputTokens === null || outputTokens < LEAST_TOKENS || writingMs < LEAST_MS) return false;
  const now = (outputTokens * 1000) / writingMs;
  const ratio = speed.calls === 0 ? 1 : now / speed.usual;
  const collapsed = speed.calls >= ENOUGH && ratio < COLLAPSED;
  speed.usual = speed.calls === 0 ? now : speed.usual * Math.max(COLLAPSED, ratio) ** STEP;
  speed.calls += 1;
  return collapsed;
}
