import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { Connections } from './connections';

/** Bytes of an answer held for a slow reader before its socket is paused. */
const BUFFER_BYTES = 256 * 1024;
/** Milliseconds to wait for the end of an answer whose content is complete, so that its socket can be kept. */
const LINGER_MS = 1000;

export interface ExchangeHead {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
}

/** Bytes that are read one piece after the other; null is the end. */
export interface ByteSource {
  read(): Promise<Buffer | null>;
}

/** How an exchange came to its end: by itself, by a fault of the transport, or because we wanted it. */
type End =
  | { readonly kind: 'complete' }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'aborted'; readonly error: unknown };

interface Waiter<T> {
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * One HTTP request and its answer, at the level of undici's dispatcher: no streams, no signals, no fetch layer. A
 * request that finds its kept-alive socket closed before a byte of an answer is sent once more, on a fresh socket.
 */
export class Exchange implements Dispatcher.DispatchHandler, ByteSource {
  private request: Dispatcher.DispatchOptions | null = null;
  private controller: Dispatcher.DispatchController | null = null;
  private head: Waiter<ExchangeHead> | null = null;
  private reader: Waiter<Buffer | null> | null = null;
  private readonly pieces: Buffer[] = [];
  private buffered = 0;
  private answering = false;
  private replayed = false;
  private discarding = false;
  private ending: End | null = null;

  constructor(private readonly connections: Connections) {}

  /** Sends the request and waits for the head of the answer. */
  open(request: Dispatcher.DispatchOptions): Promise<ExchangeHead> {
    return new Promise((resolve, reject) => {
      if (this.ending && this.ending.kind !== 'complete') return reject(this.ending.error);
      this.request = request;
      this.head = { resolve, reject };
      this.connections.dispatch(request, this);
    });
  }

  read(): Promise<Buffer | null> {
    const piece = this.pieces.shift();
    if (piece) {
      this.buffered -= piece.length;
      if (this.buffered < BUFFER_BYTES) this.controller?.resume();
      return Promise.resolve(piece);
    }
    if (this.ending?.kind === 'complete') return Promise.resolve(null);
    if (this.ending) return Promise.reject(this.ending.error);
    return new Promise((resolve, reject) => {
      this.reader = { resolve, reject };
    });
  }

  /** Null while it is under way. */
  get end(): End | null {
    return this.ending;
  }

  /** Ends it now, wherever it is; who waits for it gets `reason`. Does nothing once the answer is complete. */
  abort(reason: unknown): void {
    if (!this.ending) this.pieces.length = 0;
    this.fail({ kind: 'aborted', error: reason });
    this.controller?.abort(reason instanceof Error ? reason : new Error('aborted'));
  }

  /** All of interest is read: what is left is thrown away if it comes soon, else the socket is. */
  discard(): void {
    if (this.ending || this.discarding) return;
    this.discarding = true;
    this.pieces.length = 0;
    this.controller?.resume();
    setTimeout(() => this.abort(new Error('the answer did not end')), LINGER_MS).unref();
  }

  /** Nobody reads on. */
  close(): void {
    if (!this.ending && !this.discarding) this.abort(new Error('nobody reads the answer'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.ending) controller.abort(new Error('aborted before it began'));
  }

  /** The first byte of an answer; undici marks this hook as deprecated, but offers no other for it. */
  onResponseStarted(): void {
    this.answering = true;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    const entries = new Map<string, string>();
    for (const name in headers) {
      const value = headers[name];
      if (value !== undefined) entries.set(name, typeof value === 'string' ? value : value.join(', '));
    }
    this.head?.resolve({ status, headers: entries });
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    if (this.discarding) return;
    if (this.reader) {
      this.reader.resolve(piece);
      this.reader = null;
      return;
    }
    this.pieces.push(piece);
    this.buffered += piece.length;
    if (this.buffered >= BUFFER_BYTES) controller.pause();
  }

  onResponseEnd(): void {
    this.ending ??= { kind: 'complete' };
    this.reader?.resolve(null);
    this.reader = null;
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const stale = !this.answering && !this.replayed && this.connections.wasOfUsedSocket(error);
    if (stale && this.request && !this.ending) {
      this.replayed = true;
      this.connections.dispatchOnFreshSocket(this.request, this);
    } else {
      this.fail({ kind: 'failed', error });
    }
  }

  private fail(end: Exclude<End, { kind: 'complete' }>): void {
    if (this.ending) return;
    this.ending = end;
    this.head?.reject(end.error);
    this.reader?.reject(end.error);
  }
}
