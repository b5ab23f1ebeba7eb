import type { Tier } from '../callers/caller';
import type { Random } from '../../../simulator/src/random';
import type { Question } from '../workload/question-pool';

/** The caches as the structure of the questions makes them hit: the same text, or another wording that is recognised. */
export class VirtualCache {
  private readonly texts = new Set<string>();
  private readonly intents = new Set<string>();
  /** Whether a wording is one that would be recognised: the same each time it is asked. */
  private readonly recognised = new Map<string, boolean>();

  /** `recall`: share of the wordings that are recognised once another of the same question has been answered. */
  constructor(
    private readonly recall: number,
    private readonly random: Random,
  ) {}

  find(question: Question): Tier | null {
    const key = keyOf(question);
    if (this.texts.has(key)) return 'exact';
    return this.intents.has(question.intent) && this.isRecognised(key) ? 'semantic' : null;
  }

  store(question: Question): void {
    this.texts.add(keyOf(question));
    this.intents.add(question.intent);
  }

  private isRecognised(key: string): boolean {
    const known = this.recognised.get(key) ?? this.random() < this.recall;
    this.recognised.set(key, known);
    return known;
  }
}

/** Questions with the same key are the same to exact cache and coalescing. */
export function keyOf({ intent, text }: Question): string {
  return `${intent}\n${text}`;
}
