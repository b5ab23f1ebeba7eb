import { connect, createServer, type Socket } from 'node:net';
import { once } from 'node:events';

/** Bytes of the beginning of a connection. */
const LONGEST_MEMORY = 1_000;

/** An address that leads to a port, and after a while to another; what is connected stays where it is. */
export interface Forwarder {
  readonly port: number;
  /** Where new connections go from now on. */
  leadTo(port: number): void;
  /** What is sent from now on takes so much longer in each direction. */
  delay(ms: number): void;
  /** Carries nothing any more on connections whose near end has once sent this, and tells neither end. */
  forget(sent: string): void;
  close(): Promise<void>;
}

/** Starts an address on this machine that leads to one of its ports. */
export async function startForwarder(firstPort: number): Promise<Forwarder> {
  const sockets = new Set<Socket>();
  const sentBy = new Map<Socket, string>();
  let target = firstPort;
  let delayMs = 0;
  const server = createServer(near => {
    const far = connect(target, '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => sockets.delete(socket));
    }
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
    sentBy.set(near, '');
    near.on('data', (data: Buffer) => {
      const sent = sentBy.get(near);
      if (sent === undefined) return;
      sentBy.set(near, (sent + data.toString('latin1')).slice(0, LONGEST_MEMORY));
      setTimeout(() => far.write(data), delayMs);
    });
    far.on('data', data => sentBy.has(near) && setTimeout(() => near.write(data), delayMs));
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
    delay: ms => {
      delayMs = ms;
    },
    forget: words => {
      for (const [near, sent] of sentBy) if (sent.includes(words)) sentBy.delete(near);
    },
    close: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}
