import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startQdrant } from './qdrant';

describe('a real Qdrant', () => {
  it('is out of reach and back again, and rid of its collection in the end', async () => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      response.end('{}');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const real = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const qdrant = await startQdrant({ path: name => name }, real);
    const ask = () =>
      fetch(`${qdrant.url}/collections`).then(
        ({ status }) => status,
        () => 'out of reach',
      );
    try {
      expect(await ask()).toBe(200);
      await qdrant.kill();
      expect(await ask()).toBe('out of reach');
      await qdrant.restart();
      expect(await ask()).toBe(200);
    } finally {
      await qdrant.stop();
      server.close();
    }
    expect(asked.at(-1)).toBe(`DELETE /collections/${qdrant.collection}`);
    expect(asked).toHaveLength(3);
  });
});
