/** Whose response headers and error bodies a model speaks. */
export const FAMILIES = ['openai', 'azure', 'anthropic', 'ark', 'dashscope', 'plain', 'none'] as const;
export type Family = (typeof FAMILIES)[number];

/** Why a provider says no; each family has its own words for it. */
export const REFUSALS = [
  'rpm',
  'tpm',
  'tpd',
  'inflight',
  'growth',
  'overloaded',
  'quota',
  'trial',
  'queue',
  'set-limit',
] as const;
export type Refusal = (typeof REFUSALS)[number];
