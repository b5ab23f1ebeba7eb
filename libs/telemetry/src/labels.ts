interface Branch<Value> {
  readonly below: Map<string, Branch<Value>>;
  value: Value | null;
}

function newBranch<Value>(): Branch<Value> {
  return { below: new Map(), value: null };
}

/**
 * Values by the values of labels, which come from closed sets. A branch for each label: one text made of all of them
 * would have to be put together and hashed each time, several times a call.
 */
export class ByLabels<Value> {
  private readonly root: Branch<Value> = newBranch();

  constructor(
    private readonly names: readonly string[],
    private readonly create: () => Value,
  ) {}

  /** The value for these labels, in the order of their names; a new one where there is none. */
  at(labels: readonly string[]): Value {
    let branch = this.root;
    for (const label of labels) {
      let next = branch.below.get(label);
      if (next === undefined) branch.below.set(label, (next = newBranch()));
      branch = next;
    }
    return (branch.value ??= this.create());
  }

  /** All values with their labels by name. */
  *entries(): Generator<[Record<string, string>, Value]> {
    yield* this.entriesOf(this.root, []);
  }

  private *entriesOf(branch: Branch<Value>, path: readonly string[]): Generator<[Record<string, string>, Value]> {
    const { below, value } = branch;
    if (value !== null) yield [Object.fromEntries(this.names.map((name, at) => [name, path[at] ?? ''])), value];
    for (const [label, next] of below) yield* this.entriesOf(next, [...path, label]);
  }
}
