import { createServer, type AddressInfo } from 'node:net';
import { CapturedLog } from '../../../test/support/captured-log';
import { startRedis, type RedisServer } from '../../../test/support/redis-server';
import { configStore } from '../../../test/support/settings';
import { serveWorker } from './serve';

describe('a worker', () => {
  const taken = createServer();
  let redis: RedisServer;

  beforeAll(async () => {
    redis = await startRedis();
    await new Promise<void>(resolve => taken.listen(0, '127.0.0.1', resolve));
  });

  afterAll(async () => {
    taken.close();
    await redis.stop();
  });

  it('works where its port is taken, and says that nobody can look at it', async () => {
    const { port } = taken.address() as AddressInfo;
    const log = new CapturedLog();
    const config = configStore({
      server: { port },
      redis: { url: redis.url },
      providers: { local: { base_url: 'http://127.0.0.1:9/v1' } },
      models: { best: { provider: 'local' } },
    });
    const worker = await serveWorker({ config, logger: log });
    expect(worker.url).toBeNull();
    expect(log.lines).toMatchObject([
      { level: 'warn', fields: { reason: expect.stringContaining('EADDRINUSE') as string } },
    ]);
    await worker.stop();
  });

  it('is not ready any more from the moment at which it is to stop', async () => {
    const config = configStore({
      server: { port: 0 },
      redis: { url: redis.url },
      providers: { local: { base_url: 'http://127.0.0.1:9/v1' } },
      models: { best: { provider: 'local' } },
    });
    const worker = await serveWorker({ config, logger: new CapturedLog() });
    const ready = (): Promise<number> => fetch(`${worker.url}/readyz`).then(({ status }) => status);
    const before = await ready();
    const stopping = worker.stop();
    const [after] = await Promise.all([ready(), stopping]);
    expect([before, after]).toEqual([200, 503]);
  });
});
