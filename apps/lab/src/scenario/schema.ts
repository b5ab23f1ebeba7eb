import { PRIORITIES } from '@spillway/contracts';
import { z } from 'zod';

const text = () => z.string().min(1);
const amount = () => z.number().min(0);
const positive = () => z.number().positive();
const share = () => z.number().min(0).max(1);
const count = () => z.int().min(0);
const anything = z.record(z.string(), z.json());
const byClass = <Value extends z.ZodType>(value: Value) =>
  z.strictObject({ critical: value, normal: value, low: value } satisfies Record<(typeof PRIORITIES)[number], Value>);

const scale = z.strictObject({
  size: positive().max(1).describe('Factor of all rates and limits'),
  time: positive().max(1).describe('Factor of the length of the curve and of the periods of growth'),
  arms_at_once: z.int().min(1).default(1).describe('Arms that run side by side, each with its own processes'),
});

const curve = z
  .array(z.tuple([amount(), amount()]))
  .min(2)
  .refine(points => points.every(([at], index) => index === 0 || at > (points[index - 1]?.[0] ?? 0)), {
    error: 'the minutes must rise',
  })
  .describe('Points of minute and calls a minute, joined by straight lines');

const load = z.strictObject({
  name: text(),
  key: text().optional().describe('Bearer token of these callers'),
  curve,
  classes: byClass(share()).refine(
    classes => Math.abs(classes.critical + classes.normal + classes.low - 1) < 1e-9,
    'must sum to 1',
  ),
  kinds: byClass(text()).describe('Kind of question that each class asks'),
});

const growth = z.strictObject({ max_ratio: amount(), per_s: positive(), floor_rps: amount() });

const model = z.strictObject({
  limits: z
    .strictObject({
      rpm: count().default(0),
      tpm: count().default(0),
      inflight: count().default(0),
      growth: growth.nullable().default(null),
    })
    .prefault({}),
  told: z.boolean().default(true).describe("Whether Spillway's configuration states these limits"),
  simulator: anything.default({}).describe("Other settings of the simulator's model"),
  spillway: anything.default({}).describe("Other settings of Spillway's model"),
});

const event = z.strictObject({
  at_minute: amount(),
  name: text().describe('What the report calls it'),
  model: text().optional().describe('Model of the simulator that changes'),
  settings: anything.optional().describe('How it changes'),
  redis: z.enum(['kill', 'start']).optional(),
  qdrant: z.enum(['kill', 'start']).optional(),
});

const arm = {
  name: z.string().regex(/^[a-z0-9-]+$/, 'expected small letters, digits and -'),
  title: text(),
  loads: z.array(text()).optional().describe('Only these loads take part; default: all'),
};
const backoff = z.strictObject({
  attempts: z.int().min(1),
  base_ms: positive(),
  factor: positive().default(2),
  most_ms: positive().default(64_000),
  jitter: z.enum(['none', 'proportional', 'additive-s', 'full']).describe('How chance enters the wait'),
  jitter_share: amount().default(0.3),
});
const arms = z.discriminatedUnion('client', [
  z.strictObject({
    ...arm,
    client: z.literal('sdk').describe('The OpenAI SDK, straight to the provider'),
    retries: count().default(2).describe("The SDK's own retries; 2 is its default"),
    window_limit: z.boolean().default(false).describe('A limiter of fixed one-minute windows before it'),
  }),
  z.strictObject({ ...arm, client: z.literal('backoff').describe('Plain HTTP with a table of waits'), backoff }),
  z.strictObject({
    ...arm,
    client: z.literal('spillway'),
    repeats: count().default(0).describe('How often callers repeat where Spillway tells them to (x-should-retry)'),
    spillway: anything.default({}).describe('Changes of the configuration for this arm'),
    prewarm: z
      .strictObject({
        products: share().describe('Share of the products, best sellers first'),
        intents: z.int().min(1).describe('Questions of each kind, most asked first'),
        texts: z.int().min(1).describe('Wordings of each question and language'),
      })
      .optional(),
  }),
]);

const bound = z.union([z.number(), z.strictObject({ times: z.number(), figure: text(), arm: text().optional() })]);
const target = z
  .strictObject({
    what: text(),
    arm: text(),
    figure: text(),
    at_least: bound.optional(),
    at_most: bound.optional(),
    known: z.string().default('–').describe('What others reached'),
    unit: z.enum(['share', 'ms', 's', 'money', 'number']).default('number'),
  })
  .refine(value => (value.at_least === undefined) !== (value.at_most === undefined), 'needs one of at_least, at_most');

/** A scenario as its file says it. */
export const scenarioSchema = z
  .strictObject({
    title: text(),
    about: text(),
    pool: text(),
    products: z.int().min(1).describe('Products at full size and length; fewer in proportion to the calls'),
    popularity: z
      .strictObject({ products: amount(), intents: amount(), texts: amount() })
      .describe('Exponents of Zipf: 0 is even'),
    noise: share().default(0).describe('Share of the questions of people that are typed carelessly'),
    scale,
    short: scale,
    load: z.array(load).min(1),
    deadlines_s: byClass(positive()),
    models: z.record(text(), model).refine(models => Object.keys(models).length > 0, 'needs a model'),
    qdrant: z.boolean().default(false).describe('Whether Spillway keeps vectors in a store of its own process'),
    capacity_per_s: positive().optional().describe('Calls a second that a steady run should reach, at full size'),
    price: z.strictObject({ input: amount(), output: amount() }).describe('Per million tokens'),
    spillway: anything.default({}).describe('Configuration of Spillway beside what the models make of it'),
    events: z.array(event).default([]),
    arms: z.array(arms).min(1),
    targets: z.array(target).default([]),
  })
  .superRefine((scenario, context) => {
    const names = new Set(scenario.arms.map(({ name }) => name));
    scenario.targets.forEach(({ arm: name }, index) => {
      if (!names.has(name))
        context.addIssue({ code: 'custom', path: ['targets', index, 'arm'], message: `no arm is called ${name}` });
    });
    const loads = new Set(scenario.load.map(({ name }) => name));
    scenario.arms.forEach((one, index) => {
      for (const name of one.loads ?? []) {
        if (!loads.has(name))
          context.addIssue({ code: 'custom', path: ['arms', index, 'loads'], message: `no load is called ${name}` });
      }
    });
    scenario.events.forEach(({ model: name }, index) => {
      if (name !== undefined && scenario.models[name] === undefined)
        context.addIssue({ code: 'custom', path: ['events', index, 'model'], message: `no model is called ${name}` });
    });
  });

export type Scenario = z.output<typeof scenarioSchema>;
export type Scale = z.output<typeof scale>;
export type Arm = z.output<typeof arms>;
export type SpillwayArm = Extract<Arm, { client: 'spillway' }>;
export type SdkArm = Extract<Arm, { client: 'sdk' }>;
export type Backoff = z.output<typeof backoff>;
export type Target = z.output<typeof target>;
export type LoadStream = z.output<typeof load>;
export type ScenarioEvent = z.output<typeof event>;

const wordings = z.array(text()).min(1).describe('The usual one first; {product} stands for the product');
const kind = z.strictObject({
  system: text().describe('System message'),
  typed: z.boolean().default(false).describe('Whether people type it, now and then carelessly'),
  intents: z
    .array(z.strictObject({ name: text(), en: wordings, zh: wordings }))
    .min(1)
    .describe('Most asked first'),
});

/** A pool of questions as its file says it. */
export const poolSchema = z.strictObject({
  brands: z.array(text()).min(1),
  nouns: z.array(z.strictObject({ en: text(), zh: text() })).min(1),
  chinese: share().describe('Share of the questions that are Chinese'),
  kinds: z.record(text(), kind),
});

export type Pool = z.output<typeof poolSchema>;
