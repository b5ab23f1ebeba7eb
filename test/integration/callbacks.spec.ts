import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { until, type Reply } from '../support/api-client';
import { ask, startWorld, type World } from '../support/world';

const KEY = Buffer.from('a key of exactly thirty-two byte');
const SECRET = `whsec_${KEY.toString('base64')}`;
const ANSWER = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
};

interface Received {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly url: string | undefined;
  readonly body: string;
}

/** Answers with these statuses in order, the last one repeated. */
async function startReceiver(statuses: number[]): Promise<{ url: string; received: Received[]; server: Server }> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      received.push({ headers: request.headers, url: request.url, body });
      const status = statuses.length > 1 ? statuses.shift() : statuses[0];
      response.writeHead(status ?? 200, { location: '/elsewhere' }).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received, server };
}

describe('the result of a job', () => {
  let world: World;
  let receiver: Awaited<ReturnType<typeof startReceiver>>;

  const start = async (statuses: number[], settings: object = {}): Promise<void> => {
    receiver = await startReceiver(statuses);
    world = await startWorld({
      configuration: { async: { callback_hosts: ['127.0.0.1'], callback_secret: SECRET, ...settings } },
    });
    world.primary.script([{ json: ANSWER }]);
  };
  afterEach(async () => {
    await world.stop();
    receiver.server.close();
    receiver.server.closeAllConnections();
  });
  const submit = (url: string, body = ask('Is it?')): Promise<Reply> =>
    world.client.send({ body, headers: { prefer: 'respond-async', 'x-spillway-callback-url': url } });
  const jobOf = async (id: string | undefined): Promise<unknown> =>
    (await world.client.get(`/v1/jobs/${id}`, { authorization: 'Bearer KEY_A' })).body;

  it('is sent to the callback, signed, as the caller would see it', async () => {
    await start([204]);
    const { body: accepted } = await submit(`${receiver.url}/results?shop=1`);
    await until(() => receiver.received.length === 1);
    const [{ headers, url, body } = { headers: {}, url: '', body: '' }] = receiver.received;
    expect(url).toBe('/results?shop=1');
    const { type, timestamp, data } = JSON.parse(body) as { type: string; timestamp: string; data: object };
    expect(type).toBe('job.succeeded');
    expect(Math.abs(Date.parse(timestamp) - Date.now())).toBeLessThan(60_000);
    expect(data).toEqual(await jobOf(accepted.id));
    expect(data).toMatchObject({ id: accepted.id, status: 'succeeded', response: ANSWER });

    const id = String(headers['webhook-id']);
    const seconds = String(headers['webhook-timestamp']);
    expect(Math.abs(Number(seconds) - Date.now() / 1000)).toBeLessThan(60);
    const signature = createHmac('sha256', KEY).update(`${id}.${seconds}.${body}`).digest('base64');
    expect(headers['webhook-signature']).toBe(`v1,${signature}`);
    expect(headers['content-type']).toBe('application/json');
    expect(headers).not.toHaveProperty('authorization');
  });

  it('is told as well when it is a failure', async () => {
    await start([200]);
    world.primary.script([{ status: 400, json: { error: { message: 'Too odd.', type: 'odd', code: 'odd' } } }]);
    await submit(receiver.url);
    await until(() => receiver.received.length === 1);
    expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({
      type: 'job.failed',
      data: { status: 'failed', error: { message: 'Too odd.', type: 'odd', code: 'odd' } },
    });
  });

  it.each([500, 429, 404, 302])(
    'is sent again after %i, under the same id, and no redirect is followed',
    async status => {
      await start([status, 200]);
      await submit(receiver.url);
      await until(() => receiver.received.length === 2, 10_000);
      const [first, second] = receiver.received;
      expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
      expect(second?.body).toBe(first?.body);
      expect(second?.url).toBe('/');
    },
  );

  it('is not sent again when the receiver says that it is gone', async () => {
    await start([410]);
    await submit(receiver.url);
    await until(async () => (await world.client.get('/admin/jobs?state=failed')).raw.includes('callback_call_'));
    expect(receiver.received).toHaveLength(1);
  });

  it.each(['https://elsewhere.example/', 'http://localhost/', 'not a url'])('is not promised to %s', async url => {
    await start([200]);
    const refused = await submit(url);
    expect([refused.status, refused.body.error?.param]).toEqual([400, 'x-spillway-callback-url']);
    expect(world.primary.requests).toHaveLength(0);
  });

  it('is never sent to an address of this machine by way of a name that is listed', async () => {
    await start([200], { callback_hosts: ['localhost'] });
    const { status } = await submit(receiver.url.replace('127.0.0.1', 'localhost'));
    expect(status).toBe(202);
    const failures = () => world.gateway.log.lines.filter(({ message }) => message === 'job attempt failed');
    await until(() => failures().length === 1);
    expect(failures()[0]?.fields).toMatchObject({ kind: 'callback', key: 'a', attempt: 1, code: 'upstream_error' });
    expect(receiver.received).toHaveLength(0);
  });

  it('keeps the address from the model', async () => {
    await start([200]);
    await submit(receiver.url);
    await until(() => receiver.received.length === 1);
    expect(Object.keys(world.primary.requests[0]?.headers ?? {}).filter(name => name.startsWith('x-spillway'))).toEqual(
      [],
    );
  });
});
