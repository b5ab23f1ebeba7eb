import type { Usage } from '@spillway/contracts';

/** The tokens that a provider counts; null: not known. */
export function tokensOf(usage: Usage): number;
export function tokensOf(usage: Usage | null): number | null;
export function tokensOf(usage: Usage | null): number | null {
  return usage && usage.input + usage.output;
}
