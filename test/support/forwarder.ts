import { connect, createServer, type Socket } from 'node:net';
import { once } from 'node:events';

/** An address that leads to a port, and after a while to another; what is connected stays where it is. */
export interface Forwarder {
  readonly port: number;
  /** Where new connections go from now on. */
  leadTo(port: number): void;
  close(): Promise<void>;
}

/** Starts an address on this machine that leads to one of its ports. */
export async function startForwarder(firstPort: number): Promise<Forwarder> {
  const sockets = new Set<Socket>();
  let target = firstPort;
  const server = createServer(near => {
    const far = connect(target, '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => sockets.delete(socket));
    }
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
    near.pipe(far).pipe(near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    leadTo: port => {
      target = port;
    },
    close: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}
