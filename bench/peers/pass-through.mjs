import { latency, throughput } from '../load.mjs';
import { newChatBody } from '../requests.mjs';
import { firstToken } from '../streaming.mjs';
import { atLeast, atMost } from '../targets.mjs';
import { portkeyHeaders, startPortkey } from './portkey.mjs';

/** A call that is passed to the model and back: what each adds to it, and how many it can pass. */
export async function measurePassThrough(scene, { windows, seconds, calls }) {
  const redis = await scene.redis();
  const direct = await scene.upstream();
  const portkey = {
    name: 'Portkey gateway',
    server: await startPortkey(),
    headers: portkeyHeaders(direct.port),
  };
  const spillway = {
    name: 'Spillway, no Redis',
    server: await scene.gateway(),
  };
  const shared = {
    name: 'Spillway, Redis',
    server: await scene.gateway({ redis }),
    redis,
  };
  const targets = [
    { name: 'the model itself (direct)', server: direct },
    { name: 'Fastify + undici', server: await scene.yardstick('proxy') },
    portkey,
    spillway,
    shared,
  ];
  const body = () => newChatBody({ model: 'uncached' });
  const rates = await throughput(targets, { windows, seconds, body });
  const times = await latency(targets, { windows, calls, body });
  const rows = rates.map((rate, index) => ({
    ...rate,
    ...times[index],
    added: times[index].p50 - times[0].p50,
  }));
  const [, , other, own, ownShared] = rows;
  return {
    title: 'Pass-through',
    note: 'No cache answers anything here; Spillway keeps limits and writes its log and metrics, the others do less.',
    rows,
    verdicts: [
      atMost('CPU a call, no Redis ÷ Portkey', own.cpu / other.cpu, 0.5),
      atMost('CPU a call, with Redis ÷ Portkey', ownShared.cpu / other.cpu, 0.7),
      atLeast('calls a second, with Redis ÷ Portkey', ownShared.perSecond / other.perSecond, 1.5),
    ],
  };
}

/** Time to the first token of a stream; the bare proxy does not stream. */
export async function measureStreams(scene, { windows, calls }) {
  const direct = await scene.upstream();
  const targets = [
    { name: 'the model itself (direct)', server: direct },
    {
      name: 'Portkey gateway',
      server: await startPortkey(),
      headers: portkeyHeaders(direct.port),
    },
    { name: 'Spillway, no Redis', server: await scene.gateway() },
  ];
  const times = await latency(targets, {
    windows,
    calls: Math.ceil(calls / 4),
    body: () => newChatBody({ model: 'uncached', stream: true, max_tokens: 2 }),
    measure: firstToken,
  });
  const rows = times.map(one => ({ ...one, added: one.p50 - times[0].p50 }));
  const [, other, own] = rows;
  return {
    title: 'Time to the first token of a stream',
    rows,
    verdicts: [atMost('added time to the first token ÷ Portkey', own.added / other.added, 1)],
  };
}
