import type { ChatAnswer } from './chat-answer';
import type { Headers } from './families';
import { MODEL_FAILED, breakOff, drip, sendSpoiltJson } from './json-reply';
import type { Reply } from './reply';
import type { Fault } from './settings';

const FINGERPRINT = 'spillway-simulator';

/** An answer that is decided and admitted, ready to be sent. */
export interface ChatPlan {
  readonly id: string;
  readonly model: string;
  /** Seconds since the epoch. */
  readonly created: number;
  readonly answer: ChatAnswer;
  /** Number of choices, all with the same text. */
  readonly choices: number;
  readonly promptTokens: number;
  readonly firstTokenMs: number;
  /** 0: all at once. */
  readonly tokensPerSecond: number;
  readonly includeUsage: boolean;
  readonly headers: Headers;
  readonly fault: Fault | null;
  /** Told of tokens that go out. */
  readonly onTokens: (count: number) => void;
}

/** Sends the answer as one JSON body, when a stream would have ended. */
export async function sendWhole(reply: Reply, plan: ChatPlan): Promise<void> {
  await reply.pause(dueMs(plan, plan.answer.pieces.length - 1));
  if (!reply.open) return;
  plan.onTokens(plan.answer.pieces.length * plan.choices);
  const message = `{"role":"assistant","content":${JSON.stringify(plan.answer.pieces.join(''))},"refusal":null}`;
  const choices = Array.from(
    { length: plan.choices },
    (_, index) =>
      `{"index":${index},"message":${message},"logprobs":null,"finish_reason":${JSON.stringify(plan.answer.finish)}}`,
  );
  const json = `${opening(plan, 'chat.completion')}"choices":[${choices.join(',')}],"usage":${usageJson(plan)}}`;
  await sendSpoiltJson(reply, plan.headers, json, plan.fault);
}

/** Sends the answer as server-sent events at the model's pace. */
export async function sendStream(reply: Reply, plan: ChatPlan): Promise<void> {
  const frames = new Frames(plan);
  const { pieces } = plan.answer;
  const spoilAt = spoilPoint(plan.fault, pieces.length);
  await reply.pause(plan.firstTokenMs);
  if (!reply.open) return;
  reply.head(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    ...plan.headers,
  });
  if (plan.fault?.kind === 'drip') return drip(reply, plan.fault, ': waiting\n\n');
  await reply.write(frames.delta('{"role":"assistant","content":""}'));
  await sendPieces(reply, plan, frames, 0, spoilAt);
  if (!reply.open) return;
  if (plan.fault !== null && (await spoil(reply, plan.fault, frames))) return;
  await sendPieces(reply, plan, frames, spoilAt, pieces.length);
  reply.end(frames.closing());
}

async function sendPieces(reply: Reply, plan: ChatPlan, frames: Frames, from: number, to: number): Promise<void> {
  const startedAt = performance.now() - dueMs(plan, from);
  let next = from;
  while (next < to && reply.open) {
    const elapsed = performance.now() - startedAt;
    let text = '';
    const first = next;
    while (next < to && dueMs(plan, next) <= elapsed) {
      text += frames.delta(`{"content":${JSON.stringify(plan.answer.pieces[next])}}`);
      next += 1;
    }
    if (next > first) {
      plan.onTokens((next - first) * plan.choices);
      await reply.write(text);
    }
    if (next < to) await reply.pause(dueMs(plan, next) - (performance.now() - startedAt));
  }
}

/** Milliseconds after the call began at which a token is due. */
function dueMs(plan: ChatPlan, token: number): number {
  const pace = plan.tokensPerSecond === 0 ? 0 : 1000 / plan.tokensPerSecond;
  return plan.firstTokenMs + Math.max(0, token) * pace;
}

function spoilPoint(fault: Fault | null, pieces: number): number {
  if (fault === null) return pieces;
  const standard = fault.kind === 'no-finish' ? pieces : Math.floor(pieces / 2);
  return Math.min(pieces, fault.after_chunks ?? standard);
}

/** Plays what a fault does to a stream; true: it has ended. */
async function spoil(reply: Reply, fault: Fault, frames: Frames): Promise<boolean> {
  switch (fault.kind) {
    case 'no-finish':
      reply.end();
      return true;
    case 'error-event':
      reply.end(`data: ${MODEL_FAILED}\n\n`);
      return true;
    case 'malformed':
      await reply.write('data: {"id":"chatcmpl-broken","choices":[{"delta":{"content":\n\n');
      return false;
    case 'truncated':
    case 'reset':
    case 'hang':
      await reply.write(frames.delta('{"content":"…"}').slice(0, -20));
      await breakOff(reply, fault);
      return true;
    default:
      return false;
  }
}

/** The events of a stream; all that never changes is serialised once. */
class Frames {
  private readonly opening: string;
  private readonly ending: string;

  constructor(private readonly plan: ChatPlan) {
    this.opening = `data: ${opening(plan, 'chat.completion.chunk')}"choices":[`;
    this.ending = plan.includeUsage ? '],"usage":null}\n\n' : ']}\n\n';
  }

  /** One event per choice. */
  delta(delta: string, finish: string | null = null): string {
    const reason = JSON.stringify(finish);
    let text = '';
    for (let index = 0; index < this.plan.choices; index += 1) {
      text += `${this.opening}{"index":${index},"delta":${delta},"logprobs":null,"finish_reason":${reason}}${this.ending}`;
    }
    return text;
  }

  closing(): string {
    const usage = this.plan.includeUsage ? `${this.opening}],"usage":${usageJson(this.plan)}}\n\n` : '';
    return `${this.delta('{}', this.plan.answer.finish)}${usage}data: [DONE]\n\n`;
  }
}

function opening(plan: ChatPlan, object: string): string {
  const model = JSON.stringify(plan.model);
  return `{"id":"${plan.id}","object":"${object}","created":${plan.created},"model":${model},"system_fingerprint":"${FINGERPRINT}",`;
}

function usageJson(plan: ChatPlan): string {
  const output = plan.answer.pieces.length * plan.choices;
  return `{"prompt_tokens":${plan.promptTokens},"completion_tokens":${output},"total_tokens":${plan.promptTokens + output}}`;
}
