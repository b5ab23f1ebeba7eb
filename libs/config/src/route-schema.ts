import { PRIORITIES, type CacheRule, type QualitySignal } from '@spillway/contracts';
import { z } from 'zod';
import { milliseconds, name, ratio, seconds } from './scalars';

const chain = z
  .array(name())
  .min(1, 'expected at least one model')
  .superRefine((models, context) => {
    models.forEach((model, index) => {
      if (models.indexOf(model) < index) {
        context.addIssue({ code: 'custom', path: [index], message: 'is in this chain already' });
      }
    });
  });

const perClass = <Value extends z.ZodType>(value: Value) =>
  z.strictObject({ critical: value, normal: value, low: value } satisfies Record<(typeof PRIORITIES)[number], Value>);

const rule = (refuses: string) => z.boolean().default(true).describe(`Exact cache only for ${refuses}`);

const cacheRules = z.strictObject({
  choices: rule('calls for more than one choice'),
  long: rule('texts of more than 600 characters; off: of more than 4000'),
  tools: rule('calls with tools'),
  images: rule('messages with anything but text'),
  json: rule('JSON'),
  logs: rule('log lines and stack traces'),
  code: rule('source code'),
  volatile: rule('what changes by itself: now, today, prices, weather'),
  action: rule('what is to be done: cancel, transfer'),
  personal: rule("the caller's own things: my order"),
} satisfies Record<CacheRule, z.ZodType>);

const signal = (what: string) => z.boolean().default(true).describe(`Answers that ${what} count against their model`);

const quality = z.strictObject({
  repetition: signal('repeat themselves'),
  short: signal('stop far earlier than usual'),
  empty: signal('say nothing'),
  truncated: signal('are cut off before what the caller allows'),
  filtered: signal('a filter ended'),
  json: signal('are no JSON though it was asked for'),
  speed: signal('come far more slowly than usual'),
  canary: signal('come while their model fails its canary questions'),
} satisfies Record<QualitySignal, z.ZodType>);

export const routeCache = z.strictObject({
  exact: z.boolean().default(true).describe('Answer equal requests from the cache'),
  semantic: z
    .union([z.boolean(), z.literal('shadow')], { error: 'expected true, false or shadow' })
    .default(true)
    .describe('Answer similar requests from the cache; shadow: look, count, do not answer'),
  ttl_s: seconds().optional().describe('Seconds an answer is kept; default: cache.ttl_s'),
  threshold: ratio()
    .optional()
    .describe('Least similarity of a semantic hit; default: that of the embedding and the guard'),
  guard: z
    .enum(['strict', 'balanced', 'off'])
    .optional()
    .describe('Checks beside similarity; default strict with the builtin embedding, else balanced'),
  rules: cacheRules.prefault({}).describe('What keeps a question from all but the exact cache'),
});

const hedge = z.strictObject({
  max_share: z
    .number()
    .gt(0)
    .max(1)
    .default(0.1)
    .describe('Share of the CRITICAL calls of the route that may ask a second model'),
  after_ms: milliseconds().default(200).describe('Milliseconds after which a second model is asked at the earliest'),
});

const settings = z.strictObject({
  chain: chain.describe('Models, best first'),
  chain_by_priority: perClass(chain.optional()).prefault({}).describe('Replaces the chain for a class'),
  shed_to: z
    .strictObject({ normal: name().optional(), low: name().optional() })
    .prefault({})
    .describe('The model a class goes to under high load'),
  stale_if_error_s: seconds()
    .default(0)
    .describe('Seconds an expired answer is kept, for when nothing else can answer'),
  fallback_response: perClass(z.string().nullable().default(null))
    .prefault({})
    .describe('What a class is told when nothing can answer; null: the error'),
  hedge: hedge
    .optional()
    .describe('CRITICAL: asks a second model when the first takes longer than usual; absent: never'),
  quality: quality.prefault({}).describe('What is bad in an answer that came'),
  cache: routeCache.prefault({}).describe('How this route uses the caches'),
});

export const route = settings.superRefine(({ hedge, chain, chain_by_priority: { critical = chain } }, context) => {
  if (hedge === undefined || critical.length > 1) return;
  context.addIssue({ code: 'custom', path: ['hedge'], message: 'the chain of CRITICAL has no second model' });
});
