import { randomBytes } from 'node:crypto';
import type { BeforeApplicationShutdown } from '@nestjs/common';
import type { RedisChannels, RedisConnections, RedisGuard } from '@spillway/redis';
import type { Explanation } from './explanation';
import type { Explanations } from './explanations';

/** How long the other processes have to answer. */
const ANSWER_WITHIN_MS = 250;

type Message =
  | { readonly kind: 'question'; readonly from: string; readonly question: string; readonly requestId: string }
  | { readonly kind: 'answer'; readonly question: string; readonly explanation: Explanation };

interface RedisParts {
  readonly connections: Pick<RedisConnections, 'prefix'>;
  readonly guard: Pick<RedisGuard, 'run'>;
  readonly channels: Pick<RedisChannels, 'channel' | 'publish'>;
}

/**
 * Explains calls of all processes on one Redis. What happened to a call is known to the process that served it alone;
 * the others are asked when somebody wants to know, so that a call costs nothing for it.
 */
export class Explainer implements BeforeApplicationShutdown {
  private readonly processId = randomBytes(8).toString('hex');
  private readonly waiting = new Map<string, (explanation: Explanation) => void>();
  private readonly subscriptions: readonly (() => void)[];
  private questions = 0;

  constructor(
    private readonly own: Pick<Explanations, 'find'>,
    /** Null: this process is alone. */
    private readonly redis: RedisParts | null,
  ) {
    const hear = (text: string): void => this.hear(JSON.parse(text) as Message);
    const channels = [this.channelOfAll, this.channelOf(this.processId)];
    this.subscriptions = redis === null ? [] : channels.map(name => redis.channels.channel(name, hear));
  }

  /** Null: no process knows the call, or none that answers in time; then Redis may be lost. */
  async explain(requestId: string): Promise<Explanation | null> {
    return this.own.find(requestId) ?? (this.redis === null ? null : this.ask(requestId));
  }

  beforeApplicationShutdown(): void {
    for (const unsubscribe of this.subscriptions) unsubscribe();
  }

  private async ask(requestId: string): Promise<Explanation | null> {
    const question = String(++this.questions);
    const answer = new Promise<Explanation | null>(resolve => {
      const timer = setTimeout(() => resolve(null), ANSWER_WITHIN_MS);
      this.waiting.set(question, explanation => {
        clearTimeout(timer);
        resolve(explanation);
      });
    });
    this.send(this.channelOfAll, { kind: 'question', from: this.processId, question, requestId });
    try {
      return await answer;
    } finally {
      this.waiting.delete(question);
    }
  }

  private hear(message: Message): void {
    if (message.kind === 'answer') {
      this.waiting.get(message.question)?.(message.explanation);
      return;
    }
    const { from, question, requestId } = message;
    const explanation = from === this.processId ? null : this.own.find(requestId);
    if (explanation !== null) this.send(this.channelOf(from), { kind: 'answer', question, explanation });
  }

  /** A message that does not get through is an answer that does not come. */
  private send(channel: string, message: Message): void {
    const { redis } = this;
    redis?.guard.run(() => redis.channels.publish(channel, JSON.stringify(message))).catch(() => undefined);
  }

  private get channelOfAll(): string {
    return `${this.redis?.connections.prefix}:explain`;
  }

  private channelOf(processId: string): string {
    return `${this.channelOfAll}:${processId}`;
  }
}
