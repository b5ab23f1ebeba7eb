const LINE = /^(\w+)(?:\{(.*)\})? (\S+)$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

/** One reading of the Prometheus text: series by name. */
export class Reading {
  constructor(text, at) {
    this.at = at;
    this.series = new Map();
    for (const line of text.split('\n')) this.add(LINE.exec(line));
  }

  add(found) {
    if (found === null) return;
    const [, name, labels = '', value] = found;
    const parsed = Object.fromEntries([...labels.matchAll(LABEL)].map(([, label, text]) => [label, text]));
    if (!this.series.has(name)) this.series.set(name, []);
    this.series.get(name).push({ labels: parsed, value: Number(value) });
  }

  /** The sum over all series whose labels fit. */
  sum(name, labels = {}) {
    const fits = series => Object.entries(labels).every(([label, value]) => series.labels[label] === value);
    return (this.series.get(name) ?? []).filter(fits).reduce((sum, { value }) => sum + value, 0);
  }

  /** The values that a label has. */
  values(name, label) {
    return [...new Set((this.series.get(name) ?? []).map(({ labels }) => labels[label]))];
  }
}

/** What happened between two readings of one process. */
export class Span {
  constructor(before, after) {
    this.before = before;
    this.after = after;
    this.seconds = before === null ? 0 : (after.at - before.at) / 1000;
  }

  /** By how much a counter grew; a process that was restarted begins anew. */
  growth(name, labels) {
    if (this.before === null) return 0;
    return Math.max(0, this.after.sum(name, labels) - this.before.sum(name, labels));
  }

  /** A second. */
  rate(name, labels) {
    return this.seconds > 0 ? this.growth(name, labels) / this.seconds : 0;
  }

  /** The upper end of the bucket in which the share of a histogram lies; null: nothing was observed. */
  quantile(name, share, labels) {
    const total = this.growth(`${name}_count`, labels);
    if (total === 0) return null;
    const ends = this.after
      .values(`${name}_bucket`, 'le')
      .map(end => (end === '+Inf' ? Infinity : Number(end)))
      .sort((one, other) => one - other);
    const grown = end => this.growth(`${name}_bucket`, { ...labels, le: end === Infinity ? '+Inf' : String(end) });
    return ends.find(end => grown(end) >= share * total) ?? Infinity;
  }
}
