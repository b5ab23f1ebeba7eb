import { PRIORITIES, rankOf } from '@spillway/contracts';
import { z } from 'zod';
import { milliseconds, name, ratio, secret, whole } from './scalars';

const LONGEST_WAIT_MS = 600_000;
const TOLERANCE = 1e-9;

const priority = z.enum(PRIORITIES);

function priorityClass(defaults: { queue_limit: number; max_wait_ms: number; share: number; min_share: number }) {
  return z
    .strictObject({
      queue_limit: whole(0).default(defaults.queue_limit).describe('Calls that may wait; 0: none'),
      max_wait_ms: whole(0, LONGEST_WAIT_MS).default(defaults.max_wait_ms).describe('Longest wait for a turn'),
      deadline_ms: milliseconds(0).default(0).describe('Latest time for the answer after receipt; 0: none'),
      share: ratio().default(defaults.share).describe('Admitted while all classes together use less of each limit'),
      min_share: ratio().default(defaults.min_share).describe('Share of each limit kept for this class'),
    })
    .refine(value => value.share > 0 || value.min_share > 0, {
      path: ['share'],
      error: 'admits nothing: share and min_share are both 0',
    });
}

export const priorities = z
  .strictObject({
    critical: priorityClass({ queue_limit: 1000, max_wait_ms: 5000, share: 1, min_share: 0 }).prefault({}),
    normal: priorityClass({ queue_limit: 5000, max_wait_ms: 15_000, share: 0.9, min_share: 0.1 }).prefault({}),
    low: priorityClass({ queue_limit: 10_000, max_wait_ms: 60_000, share: 0.7, min_share: 0.05 }).prefault({}),
  })
  .refine(value => PRIORITIES.reduce((sum, name) => sum + value[name].min_share, 0) <= 1 + TOLERANCE, {
    error: 'the min_share of all classes together must not be above 1',
  });

export const classify = z.array(
  z.strictObject({
    when: z
      .strictObject({
        route: name().optional().describe('Name that the request gives as its model'),
        header: z
          .record(z.string().toLowerCase(), z.string())
          .optional()
          .describe('Headers and their values, all of which must match'),
      })
      .refine(value => value.route !== undefined || Object.keys(value.header ?? {}).length > 0, {
        error: 'give a route or a header',
      })
      .describe('All conditions must hold'),
    priority: priority.describe('The class'),
  }),
);

const callerLimits = z.strictObject({
  rpm: whole(0).default(0).describe('Requests in any 60 s; 0: none'),
  tpm: whole(0).default(0).describe('Tokens in any 60 s; 0: none'),
  inflight: whole(0).default(0).describe('Calls at the same time; 0: none'),
});

export const keys = z.array(
  z
    .strictObject({
      name: name().describe('What logs and metrics call it'),
      key: secret().describe('What callers send as bearer token'),
      priority: priority.default('normal').describe('Class of calls that name none'),
      max_priority: priority.default('critical').describe('Highest class it may use'),
      routes: z
        .array(name())
        .optional()
        .transform(routes => routes ?? null)
        .describe('Routes and models it may use; absent: all'),
      limits: callerLimits.prefault({}).describe('What this key may use'),
      team: name().optional().describe('Keys of one team share cached answers where cache.share is team'),
    })
    .refine(value => rankOf(value.priority) >= rankOf(value.max_priority), {
      path: ['priority'],
      error: 'must not be above max_priority',
    }),
);

export const users = z.strictObject({
  rpm: whole(0).default(0).describe('Requests in any 60 s of one end user of one key; 0: none'),
});
