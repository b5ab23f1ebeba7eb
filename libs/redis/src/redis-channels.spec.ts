import { randomUUID } from 'node:crypto';
import { RedisChannels } from './redis-channels';
import { RedisConnections } from './redis-connections';

describe('a channel', () => {
  let connections: RedisConnections;
  beforeAll(async () => {
    const url = process.env['SPILLWAY_TEST_REDIS_URL'] ?? '';
    connections = new RedisConnections({ url, prefix: `channels-${randomUUID()}` });
    await connections.ready();
  });
  afterAll(() => connections.onApplicationShutdown());

  it('ends nobody by a message that cannot be read, and goes on', async () => {
    const channels = new RedisChannels(connections);
    const name = `${connections.prefix}:c`;
    const heard: unknown[] = [];
    let next: () => void = () => undefined;
    channels.channel(name, message => JSON.parse(message) as unknown);
    channels.channel(name, message => {
      heard.push(message);
      next();
    });
    // Answered after the one above.
    await connections.get('subscriber').subscribe(name);
    const warnings: string[] = [];
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(warning => void warnings.push(String(warning)));
    for (const message of ['no JSON', '"JSON"']) {
      const hearing = new Promise<void>(resolve => (next = resolve));
      await channels.publish(name, message);
      await hearing;
    }
    warn.mockRestore();
    expect(heard).toEqual(['no JSON', '"JSON"']);
    expect(warnings).toEqual([expect.stringContaining(name)]);
  });
});
