import type { PlannedCall } from '../workload/plan';
import type { Question } from '../workload/question-pool';

/** The simulator's answers begin with a line that quotes what was asked of it. */
const QUOTE = /You asked: (.*)\n/;

/** Knows which question an answer was made for, and so whether it may serve another. */
export class RightAnswers {
  private readonly intents = new Map<string, Set<string>>();

  constructor(questions: Iterable<Question>) {
    for (const { text, intent } of questions) {
      const known = this.intents.get(text);
      if (known === undefined) this.intents.set(text, new Set([intent]));
      else known.add(intent);
    }
  }

  /** Whether an answer was made for a question of the same intent; an answer without a quote is never right. */
  isRight(answer: string, { question }: Pick<PlannedCall, 'question'>): boolean {
    const quoted = QUOTE.exec(answer)?.[1];
    return quoted !== undefined && this.intents.get(quoted)?.has(question.intent) === true;
  }
}
