import OpenAI, { APIError } from 'openai';
import type { SdkArm } from '../scenario/schema';
import type { PlannedCall } from '../workload/plan';
import { messagesOf, type Caller, type Reply } from './caller';
import { WindowLimiter } from './window-limiter';

/** The OpenAI SDK as a program would use it without Spillway: one client, its own retries. */
export class SdkCaller implements Caller {
  private readonly client: OpenAI;
  private readonly limiter: WindowLimiter | null;

  /** `perMinute`: what a limiter before it lets pass. */
  constructor(
    baseURL: string,
    private readonly model: string,
    arm: SdkArm,
    perMinute: number,
  ) {
    this.client = new OpenAI({ baseURL, apiKey: 'lab', maxRetries: arm.retries });
    this.limiter = arm.window_limit ? new WindowLimiter(perMinute) : null;
  }

  async call(planned: PlannedCall, signal: AbortSignal): Promise<Reply> {
    try {
      await this.limiter?.enter(signal);
      const answer = await this.client.chat.completions.create(
        { model: this.model, messages: messagesOf(planned) },
        { signal },
      );
      return { kind: 'answer', text: answer.choices[0]?.message.content ?? '', tier: 'generated', tries: 1 };
    } catch (error) {
      return { kind: 'error', status: error instanceof APIError ? (error.status ?? null) : null, tries: 1 };
    }
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
