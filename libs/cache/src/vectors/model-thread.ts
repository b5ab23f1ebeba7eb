import type { Worker } from 'node:worker_threads';
import type { ModelReply } from './serve-model';
import type { Tensor } from './transformers-package';

interface Waiting {
  readonly resolve: (tensor: Tensor) => void;
  readonly reject: (error: Error) => void;
}

/** A question that the thread of the model did not answer. */
class ModelFailed extends Error {
  constructor(readonly kind: string) {
    super(kind);
    this.name = 'ModelFailed';
  }
}

/** The near side of a thread that runs a model: one question at a time, in the order they come. */
export class ModelThread {
  /** Resolves with the reason when the thread is no more. */
  readonly ended: Promise<string>;
  private isReady = false;
  private turn: Promise<unknown> = Promise.resolve();
  private waiting: Waiting | null = null;

  constructor(private readonly worker: Worker) {
    this.ended = new Promise(resolve => {
      worker.once('error', error => resolve(error.message));
      worker.once('exit', code => resolve(`the thread ended with ${code}`));
    });
    worker.on('message', (reply: ModelReply) => this.heard(reply));
    void this.ended.then(() => this.end());
    // It does not keep a process alive that has nothing else to do.
    worker.unref();
  }

  /** What has not begun when its signal aborts is not done at all. */
  run(texts: readonly string[], signal: AbortSignal): Promise<Tensor> {
    const result = this.turn.then(() => {
      if (!this.isReady) throw new ModelFailed('the model is not loaded');
      if (signal.aborted) throw new ModelFailed('too late');
      return this.ask(texts);
    });
    this.turn = result.catch(() => null);
    return result;
  }

  async close(): Promise<void> {
    await this.worker.terminate();
  }

  private ask(texts: readonly string[]): Promise<Tensor> {
    return new Promise((resolve, reject) => {
      this.waiting = { resolve, reject };
      this.worker.postMessage(texts);
    });
  }

  private heard(reply: ModelReply): void {
    switch (reply.kind) {
      case 'ready':
        this.isReady = true;
        return;
      case 'tensor':
        return this.waiting?.resolve(reply.tensor);
      case 'failed':
        return this.waiting?.reject(new ModelFailed(reply.reason));
      default:
        return reply satisfies never;
    }
  }

  private end(): void {
    this.isReady = false;
    this.waiting?.reject(new ModelFailed('the thread of the model ended'));
  }
}
