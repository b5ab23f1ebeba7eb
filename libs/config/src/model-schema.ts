import { z } from 'zod';
import { milliseconds, name, optionalSecret, positive, ratio, seconds, webAddress, whole } from './scalars';

const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'not a header name');
const headerValue = z.string().regex(/^[\t\x20-\x7e]*$/, 'expected ASCII characters on one line');

export const provider = z.strictObject({
  base_url: webAddress().transform(withoutTrailingSlash).describe('Address of its OpenAI-compatible API, with /v1'),
  api_key: optionalSecret().describe('Sent as bearer token; none when absent or empty'),
  headers: z.record(headerName, headerValue).default({}).describe('Extra headers of every request to it'),
  stream_usage: z.boolean().default(true).describe('Ask streams for their usage chunk'),
});

const limits = z.strictObject({
  rpm: whole(0).default(0).describe('Requests in any 60 s; 0: none'),
  tpm: whole(0).default(0).describe('Tokens in any 60 s; 0: none'),
  tpd: whole(0).default(0).describe('Tokens in any 24 h; 0: none'),
  inflight: whole(0).default(0).describe('Calls at the same time; 0: none'),
});

const growth = z
  .strictObject({
    max_ratio: positive().default(0.2).describe('By how much the use may grow in per_s, as a share'),
    per_s: seconds().default(180).describe('Seconds'),
    floor_rps: positive().default(5).describe('Calls per second that are always allowed'),
  })
  .refine(({ floor_rps, per_s }) => floor_rps * per_s >= 1, {
    path: ['floor_rps'],
    error: 'allows less than one call in per_s, so that none could ever begin',
  });

const climb = z
  .strictObject({
    mode: z
      .enum(['auto', 'on', 'off'])
      .default('auto')
      .describe('auto: no ceiling until the first overload; on: starts at initial_rps; off: never'),
    initial_rps: positive().default(10).describe('Calls per second'),
    max_rps: z.number().min(0).default(0).describe('Calls per second; 0: no ceiling'),
    burst_s: positive().default(1).describe('Seconds of the rate that may go at once after a rest'),
    interval_s: positive().default(10).describe('Seconds between two steps'),
    strict_error_ratio: ratio().default(0.05).describe('Share of overload errors above which the rate falls'),
    relax_error_ratio: ratio().default(0.01).describe('Share of overload errors below which the rate climbs'),
    probe_ratio: positive().default(0.05).describe('One step up, as a share'),
    fast_probe_ratio: positive().default(0.1).describe('One fast step up, as a share'),
  })
  .refine(value => value.relax_error_ratio <= value.strict_error_ratio, {
    path: ['relax_error_ratio'],
    error: 'must not be above strict_error_ratio',
  });

const breaker = z
  .strictObject({
    window_s: positive().default(60).describe('Seconds of outcomes that count'),
    min_requests: whole(1).default(20).describe('Outcomes in the window before rates count'),
    degraded_error_rate: ratio().default(0.15).describe('Error rate from which the model is used less'),
    open_error_rate: ratio().default(0.5).describe('Error rate from which it is not called'),
    consecutive_failures: whole(1).default(10).describe('Failures in a row after which it is not called'),
    open_min_s: positive().default(1).describe('Seconds until the first probe'),
    open_max_s: positive().default(30).describe('Longest time between probes, in seconds'),
  })
  .refine(value => value.degraded_error_rate <= value.open_error_rate, {
    path: ['degraded_error_rate'],
    error: 'must not be above open_error_rate',
  })
  .refine(value => value.open_min_s <= value.open_max_s, {
    path: ['open_min_s'],
    error: 'must not be above open_max_s',
  });

const price = z.strictObject({
  input: z.number().min(0).describe('Per million tokens'),
  output: z.number().min(0).describe('Per million tokens'),
});

const warmup = z.strictObject({
  factor: positive().max(1).describe('Share of the limits a new model starts with'),
  hours: positive().describe('Hours until it has all of them'),
});

export const model = z.strictObject({
  provider: name().describe('Name of a provider'),
  upstream_model: z.string().min(1, 'empty').optional().describe("The provider's name for it; default: the key"),
  limits: limits.prefault({}).describe('What the provider grants; all processes share it'),
  headroom: z
    .number()
    .min(0)
    .lt(1)
    .optional()
    .describe('Share of each limit that is left alone; default 0.2 where a limit is given'),
  adaptive_inflight: z
    .boolean()
    .default(true)
    .describe('Without limits.inflight: a limit once too many calls at a time make it slow'),
  growth: growth.optional().describe('Limit of the slope; absent: none until the provider signals one'),
  climb: climb.prefault({}).describe('How the rate climbs after an overload'),
  breaker: breaker.prefault({}).describe('When it counts as degraded or down'),
  timeout_ms: milliseconds().default(60_000).describe('Whole call'),
  first_token_timeout_ms: milliseconds().default(30_000).describe('Until the first content of a stream'),
  idle_timeout_ms: milliseconds().default(30_000).describe('Between two pieces of an answer'),
  context_window: whole(1).optional().describe('Tokens; absent: unknown'),
  price: price.optional().describe('What it costs'),
  warmup: warmup.optional().describe('Slow start of a new model'),
  load_url: webAddress()
    .optional()
    .describe("Page with the model server's own load, like vLLM's /metrics; scales limits.tpm"),
});

function withoutTrailingSlash(address: string): string {
  return address.replace(/\/+$/, '');
}
