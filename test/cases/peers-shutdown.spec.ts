import { until, type Reply } from '../support/api-client';
import { completion, events, FINISH, text } from '../support/model-answers';
import { ask, startWorld } from '../support/world';

const redisUrl = process.env['SPILLWAY_TEST_REDIS_URL'] ?? '';

describe.each([
  ['in memory', {}],
  ['through Redis', { REDIS_URL: redisUrl }],
])('rows 17 and 131: a stop, turns %s', (_, env) => {
  it('finishes what can be finished, and tells the rest to go elsewhere, once', async () => {
    const world = await startWorld({
      env,
      model: { limits: { inflight: 2 }, headroom: 0 },
      configuration: { server: { drain_ms: 1_500 }, redis: { prefix: `cases-stop-${process.pid}` } },
    });
    const { client, primary, gateway } = world;
    const slow = [text('a'), { sleep: 1_000 }, text('b'), FINISH, '[DONE]'] as const;
    primary.script([
      { ...completion('whole'), ttfb_ms: 1_000 },
      events(slow),
      completion('in time'),
      { ...completion('too late'), ttfb_ms: 5_000 },
    ]);
    const send = (id: string): Promise<Reply> =>
      client.send({ body: ask(id, { model: 'alone' }), headers: { 'x-request-id': id } });
    const whole = send('whole');
    await until(() => primary.requests.length === 1);
    const streamed = client.stream({ body: ask('streamed', { model: 'alone' }) });
    await until(() => primary.requests.length === 2);
    const waiting = ['w1', 'w2', 'w3', 'w4'].map(send);
    await until(async () => (await client.metric('spillway_queue_depth')) === waiting.length);
    const stopping = gateway.stop();
    const late = await send('late');

    expect((await whole).said).toBe('whole');
    const stream = await streamed;
    expect([stream.said, stream.events.at(-1)?.data]).toEqual(['ab', '[DONE]']);
    const replies = await Promise.all(waiting);
    expect(replies.filter(({ status }) => status === 200).map(({ said }) => said)).toEqual(['in time']);
    for (const reply of [late, ...replies.filter(({ status }) => status !== 200)]) {
      expect([reply.status, reply.said]).toEqual([503, 'shutting_down']);
      expect(reply.headers.get('x-should-retry')).toBe('true');
      expect(reply.headers.get('x-spillway-outcome')).toBe('shutting-down');
      expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    await stopping;
    const ends = gateway.log.lines.flatMap(({ fields }) => ('outcome' in fields ? [fields['request_id']] : []));
    for (const id of ['w1', 'w2', 'w3', 'w4', 'whole']) expect(ends.filter(end => end === id)).toEqual([id]);
    await Promise.all([primary.close(), world.fallback.close()]);
  });
});
