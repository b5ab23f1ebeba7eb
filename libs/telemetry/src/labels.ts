/** One text for the values of labels, which come from closed sets and hold no line breaks. */
export function keyOf(values: readonly string[]): string {
  return values.join('\n');
}

/** The values again, by the names of their labels. */
export function labelsOf(names: readonly string[], key: string): Record<string, string> {
  const values = key.split('\n');
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']));
}
