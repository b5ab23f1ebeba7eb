/** Keys that are counted at most; beyond it all counts are halved and the rare ones forgotten. */
const MOST_KEYS = 50_000;

/**
 * How rare words, or pieces of them, are among the questions seen: what only one of two questions says weighs more the
 * rarer it is.
 */
export class Rarity<Key> {
  private readonly questionsWith = new Map<Key, number>();
  private questions = 0;

  seen(keys: ReadonlySet<Key>): void {
    this.questions += 1;
    for (const key of keys) this.questionsWith.set(key, (this.questionsWith.get(key) ?? 0) + 1);
    if (this.questionsWith.size > MOST_KEYS) this.forgetHalf();
  }

  /** Inverse document frequency, smoothed: about 0.7 for what every question says, more the rarer. */
  of(key: Key): number {
    return Math.log(1 + (this.questions + 1) / ((this.questionsWith.get(key) ?? 0) + 1));
  }

  private forgetHalf(): void {
    this.questions /= 2;
    for (const [key, count] of this.questionsWith) {
      if (count <= 1) this.questionsWith.delete(key);
      else this.questionsWith.set(key, count / 2);
    }
  }
}
