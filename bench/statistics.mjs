/** The value below which `share` (0 to 1) of the values lie. */
export function percentile(values, share) {
  if (values.length === 0) return NaN;
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

export function median(values) {
  if (values.length === 0) return NaN;
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Numbers as people read them. */
export function whole(value) {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ' ');
}

export function decimal(value, digits = 2) {
  return value.toFixed(digits);
}
