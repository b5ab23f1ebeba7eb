import type { Socket } from 'node:net';
import { Agent, buildConnector, type Dispatcher } from 'undici';

/** Per upstream; beyond it calls wait for a free socket. */
const SOCKETS = 1000;
/** Milliseconds an idle socket is kept; a server that names a shorter time in `keep-alive` is believed. */
const KEEP_ALIVE_MS = 15_000;
const CONNECT_TIMEOUT_MS = 10_000;

/** Limits of time belong to the call, which knows its model's settings; the transport has none. */
const NO_TIMEOUTS = { headersTimeout: 0, bodyTimeout: 0 };

/** The sockets to all upstreams, kept alive between calls. They outlive any settings: a reload cuts no call off. */
export class Connections {
  /** Errors of sockets that had already carried an answer before. */
  private readonly errorsOfUsedSockets = new WeakSet<Error>();
  private readonly connect = this.watched(buildConnector({ timeout: CONNECT_TIMEOUT_MS }));
  private readonly kept = new Agent({
    ...NO_TIMEOUTS,
    connections: SOCKETS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connect: this.connect,
  });
  /** Without pipelining undici keeps no socket alive, so that each request gets a new one. */
  private readonly fresh = new Agent({ ...NO_TIMEOUTS, connections: SOCKETS, pipelining: 0, connect: this.connect });

  dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.kept.dispatch(request, handler);
  }

  dispatchOnFreshSocket(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.fresh.dispatch(request, handler);
  }

  /** Whether a socket died that had been idle: its server closed it just as the next request was written. */
  wasOfUsedSocket(error: Error): boolean {
    return this.errorsOfUsedSockets.has(error);
  }

  /** Waits for the calls under way, then closes all sockets. */
  async close(): Promise<void> {
    await Promise.all([this.kept.close(), this.fresh.close()]);
  }

  private watched(connector: buildConnector.connector): buildConnector.connector {
    return (options, callback) =>
      connector(options, (...result) => {
        const socket: Socket | null = result[1];
        socket?.on('error', error => {
          if (socket.bytesRead > 0) this.errorsOfUsedSockets.add(error);
        });
        callback(...result);
      });
  }
}
