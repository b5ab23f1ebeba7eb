import { z } from 'zod';
import { classify, keys, priorities, users } from './caller-schema';
import { model, provider } from './model-schema';
import { route } from './route-schema';
import {
  milliseconds,
  name,
  optionalFolder,
  optionalRedisAddress,
  optionalSecret,
  optionalWebAddress,
  optionalWebhookSecret,
  port,
  ratio,
  seconds,
  size,
  whole,
} from './scalars';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

const server = z.strictObject({
  host: z.string().min(1, 'empty').default('127.0.0.1').describe('Address to listen on'),
  port: port().default(8080).describe('Port to listen on; 0: any free one'),
  body_limit: size().prefault('10mb').describe('Largest request body: bytes, or text like 10mb'),
  drain_ms: milliseconds(0).default(30_000).describe('Time that calls under way have to finish at a stop'),
  cors: z
    .union([z.boolean(), z.array(z.string().min(1, 'empty'))], { error: 'expected true, false or a list of origins' })
    .default(false)
    .describe('Whether browsers of other origins may call: all, none, or a list'),
  heartbeat_ms: milliseconds(0)
    .default(15_000)
    .describe('Silence in a stream that has begun before a comment is sent; 0: never'),
});

const redis = z.strictObject({
  url: optionalRedisAddress().describe('redis:// or rediss:// address; empty: one process, in memory'),
  prefix: z
    .string()
    .regex(/^[A-Za-z0-9_.:-]{1,64}$/, 'expected 1 to 64 of letters, digits and _.:-')
    .default('spillway')
    .describe('Begins every key and queue name'),
  timeout_ms: milliseconds(10)
    .default(100)
    .describe('Silence of Redis after which a call goes on without it; 2.5 times as much while it answers others'),
});

const qdrant = z.strictObject({
  url: optionalWebAddress().describe('http:// or https:// address; empty: the embedded index'),
  api_key: optionalSecret().describe('Its key'),
  collection: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,128}$/, 'expected 1 to 128 of letters, digits, _ and -')
    .default('spillway')
    .describe('Its collection'),
});

const judge = z.strictObject({
  model: name().optional().describe('Route or model that judges whether one answer serves two questions; none: nobody'),
  hits: ratio().default(0.05).describe('Share of the hits let through by the guard that is judged'),
  per_minute: whole(0).default(30).describe('Questions to the judge at most, for each process'),
  error: ratio().default(0.05).describe('Share of wrong reuses that the judge is expected to overlook'),
});

const cache = z.strictObject({
  ttl_s: seconds().default(3600).describe('Seconds an answer is kept where the route says nothing else'),
  l1_entries: whole(1).default(10_000).describe('Answers kept in the process'),
  max_item_bytes: whole(1).default(1_000_000).describe('Largest answer that is kept'),
  error_budget: ratio()
    .default(0.01)
    .describe('Share of looked-up calls that may be answered wrongly by the semantic cache'),
  coalesce: z
    .boolean()
    .default(true)
    .describe('Equal calls that are under way at the same time share one call of a model'),
  share: z.enum(['key', 'team', 'all']).default('key').describe('Who shares cached answers'),
  vector_entries: whole(1).default(100_000).describe('Questions in the embedded vector index'),
  judge: judge.prefault({}).describe('Who judges reuse in the background, so that the semantic cache learns'),
  folder: optionalFolder().describe(
    'Folder where the embedded vector index outlives the process; null: in memory only',
  ),
});

const embedding = z.strictObject({
  provider: name().default('builtin').describe('builtin, onnx, or the name of a provider'),
  model: z
    .string()
    .min(1, 'empty')
    .optional()
    .describe("The provider's model; for onnx a folder or a name on the Hugging Face hub"),
});

const scheduling = z.strictObject({
  express: z.boolean().default(true).describe('A call for which a permit is free skips the queue'),
  worker_concurrency: whole(1).default(10).describe('Tickets a worker handles at once, for each class'),
  lease_ms: milliseconds().default(10_000).describe('Life of a permit that nobody renews'),
  claim_ms: milliseconds().default(2000).describe('Time a caller has to claim a turn'),
});

const canaryQuestion = z.strictObject({
  question: z.string().min(1, 'empty').describe('What the model is asked'),
  answer: z
    .string()
    .regex(/[\p{L}\p{N}]/u, 'expected words')
    .describe('What it should answer'),
  min_bleu: ratio().default(0).describe('Least BLEU-4 of an answer'),
});

const canary = z
  .strictObject({
    every_s: whole(0, 86_400).default(0).describe('Seconds from one time to the next; 0: never'),
    questions: z.array(canaryQuestion).max(20, 'expected at most 20').default([]).describe('All are asked each time'),
    models: z.array(name()).optional().describe('Models that are asked; default: all'),
  })
  .refine(({ every_s, questions }) => every_s === 0 || questions.length > 0, {
    path: ['questions'],
    error: 'names no question to ask',
  });

const highLoad = z.strictObject({
  normal_queue: whole(0).default(500).describe('Waiting normal calls from which load is high'),
  low_queue: whole(0).default(2000).describe('Waiting low calls from which load is high'),
});

/** The whole of `spillway.yaml`, after variables were replaced. */
export const configurationSchema = z.strictObject({
  server: server.prefault({}).describe('The HTTP server'),
  redis: redis.prefault({}).describe('Shared queue, cache and limits'),
  qdrant: qdrant.prefault({}).describe('Shared vector index'),
  providers: z.record(name(), provider).default({}).describe('OpenAI-compatible APIs'),
  models: z.record(name(), model).default({}).describe('Models and their limits'),
  routes: z.record(name(), route).default({}).describe('Names that stand for a chain of models'),
  passthrough: name().optional().describe('Provider that is asked for models that are not configured'),
  priorities: priorities.prefault({}).describe('The three classes'),
  high_load: highLoad.prefault({}).describe('When shed_to takes effect'),
  health: z
    .strictObject({ canary: canary.prefault({}).describe('Questions with known answers that models are asked') })
    .prefault({})
    .describe('How it is found out how models are'),
  classify: classify.default([]).describe('Rules that give a call its class; first match wins'),
  keys: keys.default([]).describe('Callers; none: only loopback is served'),
  users: users.prefault({}).describe('Limits of one end user'),
  admin: z
    .strictObject({
      key: optionalSecret().describe('Bearer token of operators; none: only loopback'),
      explain_entries: whole(0, 100_000)
        .default(1000)
        .describe('Calls a process can explain: so many that a cache answered, and so many others'),
    })
    .prefault({})
    .describe('The operators'),
  cache: cache.prefault({}).describe('The caches'),
  embedding: embedding.prefault({}).describe('What turns text into vectors'),
  scheduling: scheduling.prefault({}).describe('The queues'),
  async: z
    .strictObject({
      result_ttl_s: seconds().default(86_400).describe('Seconds the result of a job is kept'),
      max_age_s: seconds().default(86_400).describe('Seconds after which a job that found no answer is given up'),
      queue_limit: whole(0).default(10_000).describe('Jobs that may wait'),
      concurrency: whole(1).default(50).describe('Jobs that a process runs at once'),
      callback_hosts: z.array(z.string().min(1, 'empty')).default([]).describe('Hosts that results may be sent to'),
      callback_secret: optionalWebhookSecret().describe('Signs what is sent to them; none: nothing is sent'),
    })
    .prefault({})
    .describe('Asynchronous calls'),
  seeding: z
    .strictObject({
      body_limit: size().prefault('64mb').describe('Largest text of seeds: bytes, or text like 64mb'),
      concurrency: whole(1, 1000).default(4).describe('Seeds at the same time, for each text of seeds'),
    })
    .prefault({})
    .describe('Filling the caches beforehand'),
  log: z
    .strictObject({
      level: z.enum(LOG_LEVELS).default('info').describe('Least level that is written'),
      snippets: z.boolean().default(true).describe('First and last 20 characters of answers in the log'),
    })
    .prefault({})
    .describe('The log'),
});

export type Configuration = z.output<typeof configurationSchema>;
