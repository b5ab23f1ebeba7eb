/** A figure and what it should be; the report says which are met, and bends none. */
export function atLeast(what, figure, target) {
  return { what, figure, target: `≥ ${target}`, met: figure >= target };
}

export function atMost(what, figure, target) {
  return { what, figure, target: `≤ ${target}`, met: figure <= target };
}
