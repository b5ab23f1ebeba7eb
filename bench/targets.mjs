/** A figure, what it should be, and what it is made of: told where it is missed, and never bent. */
export function atLeast(what, figure, target, madeOf = null) {
  return { what, figure, target: `≥ ${target}`, met: figure >= target, madeOf };
}

export function atMost(what, figure, target, madeOf = null) {
  return { what, figure, target: `≤ ${target}`, met: figure <= target, madeOf };
}

/** A verdict that counts only where the figure means what it says. */
export function undecidedUnless(condition, verdict) {
  return condition ? verdict : { ...verdict, met: null };
}
