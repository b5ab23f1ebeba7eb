import { latency, throughput } from './load.mjs';
import { newChatBody } from './requests.mjs';
import { atLeast, atMost } from './targets.mjs';

const COSTS = '[What a call costs](../architecture.md#what-a-call-costs)';
const expressCpu = (express, proxy) =>
  `beyond the proxy it takes ${Math.round(express.cpu - proxy.cpu)} µs. The prototype from which the target was taken took 200 to ` +
  '225, but beside a proxy of 233 to 254 µs, on a machine where a bare `node:http` call took 80 to 100 µs and SHA-256 of 1 kB ' +
  '1.2 µs. Where sending is cheaper (the floor of an exact hit tells) and computing is not, the ratio grows. What the time is ' +
  `spent on: ${COSTS}.`;
const EXPRESS_TIME =
  'the bare proxy adds nearly half of it, and Redis as much: it is woken, decides by a script, and wakes the gateway. The look-up ' +
  'before that costs nothing that could be measured: left out, or sent together with the permit, the time stays as it is.';
const QUEUED_RATE =
  'gateway and Redis work for a call in turns and seldom at once, so that neither core is busy all the time; what each does: ' +
  `${COSTS}.`;
const QUEUED_TIME =
  'five round trips to Redis come before the call of the model: look-up, entry with its job, waking the worker, taking the ' +
  'job, reaching the ticket.';

/** A call that must ask the model: by the express lane with and without Redis, and through the queue. */
export async function measureMiss(scene, { windows, seconds, calls }) {
  const redis = await scene.redis();
  const queueRedis = await scene.redis();
  const targets = [
    { name: 'the model itself (direct)', server: await scene.upstream() },
    { name: 'Fastify + undici, usage parsed', server: await scene.yardstick('proxy') },
    { name: 'Spillway, express, no Redis', server: await scene.gateway() },
    { name: 'Spillway, express, Redis', server: await scene.gateway({ redis }), redis },
    {
      name: 'Spillway, through BullMQ',
      server: await scene.gateway({ redis: queueRedis, scheduling: { express: false } }),
      redis: queueRedis,
    },
  ];
  const rates = await throughput(targets, { windows, seconds, body: newChatBody });
  const times = await latency(targets, { windows, calls, body: newChatBody });
  const rows = rates.map((rate, index) => ({ ...rate, ...times[index], added: times[index].p50 - times[0].p50 }));
  const [, proxy, , express, queued] = rows;
  return {
    title: 'Miss',
    rows,
    verdicts: [
      atLeast('express: misses a second', express.perSecond, 1900),
      atMost('express: added p50, ms', express.added, 1, EXPRESS_TIME),
      atMost('express: CPU ÷ Fastify + undici', express.cpu / proxy.cpu, 2.2, expressCpu(express, proxy)),
      atLeast('through BullMQ: misses a second', queued.perSecond, 1000, QUEUED_RATE),
      atMost('through BullMQ: added p50, ms', queued.added, 3, QUEUED_TIME),
    ],
  };
}
