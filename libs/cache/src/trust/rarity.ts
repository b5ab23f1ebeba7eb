/** Concepts that are counted at most; beyond it all counts are halved and the rare ones forgotten. */
const MOST_CONCEPTS = 50_000;

/** How rare words are among the questions seen: what only one of two questions says weighs more the rarer it is. */
export class Rarity {
  private readonly questionsWith = new Map<string, number>();
  private questions = 0;

  seen(concepts: ReadonlySet<string>): void {
    this.questions += 1;
    for (const concept of concepts) this.questionsWith.set(concept, (this.questionsWith.get(concept) ?? 0) + 1);
    if (this.questionsWith.size > MOST_CONCEPTS) this.forgetHalf();
  }

  /** Inverse document frequency, smoothed: about 0.7 for what every question says, more the rarer. */
  of(concept: string): number {
    return Math.log(1 + (this.questions + 1) / ((this.questionsWith.get(concept) ?? 0) + 1));
  }

  private forgetHalf(): void {
    this.questions /= 2;
    for (const [concept, count] of this.questionsWith) {
      if (count <= 1) this.questionsWith.delete(concept);
      else this.questionsWith.set(concept, count / 2);
    }
  }
}
