import { LRUCache } from 'lru-cache';

interface Member {
  /** Null: it names its group. */
  parent: Member | null;
  /** Of the group that it names. */
  size: number;
}

/** Which kept questions share one answer, as far as that was judged; the latest `most` of them are remembered. */
export class Groups {
  private readonly members: LRUCache<string, Member>;

  constructor(most = 100_000) {
    // By size, as room for `max` is taken at once: four megabytes of each route, though few have anything judged.
    this.members = new LRUCache({ maxSize: most, sizeCalculation: () => 1 });
  }

  /** From now on both, and all that share an answer with either, are one group. */
  join(a: string, b: string): void {
    const [left, right] = [this.rootOf(a), this.rootOf(b)];
    if (left === right) return;
    const [small, large] = left.size < right.size ? [left, right] : [right, left];
    small.parent = large;
    large.size += small.size;
  }

  /** Makes it a question of its own again, whatever was judged of it before. */
  forget(id: string): void {
    this.members.delete(id);
  }

  /** Equal for the questions of one group, and for no others. */
  of(id: string): object | string {
    const member = this.members.get(id);
    return member === undefined ? id : namer(member);
  }

  /** Questions in the group; those that were forgotten since may still count. */
  sizeOf(id: string): number {
    const member = this.members.get(id);
    return member === undefined ? 1 : namer(member).size;
  }

  private rootOf(id: string): Member {
    const known = this.members.get(id);
    if (known !== undefined) return namer(known);
    const member: Member = { parent: null, size: 1 };
    this.members.set(id, member);
    return member;
  }
}

/** Halves the way for the next time (path halving, Tarjan and van Leeuwen 1984). */
function namer(member: Member): Member {
  let at = member;
  while (at.parent !== null) {
    if (at.parent.parent !== null) at.parent = at.parent.parent;
    at = at.parent;
  }
  return at;
}
