import type { ModelSettings, ProviderSettings } from '@spillway/contracts';

/** The settings of a model behind a scripted upstream, with whatever a test wants to be different. */
export function modelAt(
  url: string,
  changes: Partial<Omit<ModelSettings, 'provider'>> & { readonly provider?: Partial<ProviderSettings> } = {},
): ModelSettings {
  return {
    name: 'm-primary',
    metric_label: 'm-primary',
    upstream_model: 'real-primary',
    limits: { rpm: 0, tpm: 0, tpd: 0, inflight: 0 },
    headroom: 0.2,
    timeout_ms: 5000,
    first_token_timeout_ms: 5000,
    idle_timeout_ms: 5000,
    ...changes,
    provider: {
      name: 'primary',
      base_url: `${url}/v1`,
      api_key: 'UPSTREAM_KEY_1',
      headers: {},
      stream_usage: true,
      ...changes.provider,
    },
  };
}
