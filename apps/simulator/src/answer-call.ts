import type { Clock, JsonObject } from '@spillway/contracts';
import { composeAnswer, spoilAnswer } from './chat-answer';
import { sendStream, sendWhole } from './chat-reply';
import { embeddingJson, embeddingTokens, inputsOf } from './embedding';
import { limitHeaders, refusalReply, type Headers } from './families';
import { playInstead, sendError, sendJson, sendSpoiltJson } from './json-reply';
import type { ModelState } from './model-state';
import { jitterFactor } from './random';
import type { Reply } from './reply';
import type { Fault } from './settings';
import { promptTokensOf } from './tokens';
import type { Refusal } from './vendor';

const MOST_CHOICES = 128;
const SLOW_FACTOR = 10;

/** A call to a model, read and logged. */
export interface ModelCall {
  readonly model: ModelState;
  readonly body: JsonObject;
  readonly requestId: string;
  readonly clock: Clock;
  readonly reply: Reply;
  /** Told when the call was let in and holds a slot. */
  readonly onHeld: () => void;
}

export async function answerChat(call: ModelCall): Promise<void> {
  const { model, body, reply } = call;
  if (!Array.isArray(body['messages']) || body['messages'].length === 0) {
    return sendError(reply, 400, "'messages' must be a list that is not empty.");
  }
  const answer = composeAnswer(body, model.settings.answer, model.random);
  const choices = choicesOf(body);
  const promptTokens = promptTokensOf(body);
  if (!letIn(call, promptTokens, answer.pieces.length * choices)) return;
  const fault = model.nextFault();
  if (fault !== null && playInsteadOfAnswer(call, fault)) return;
  const { latency } = model.settings;
  const slowness = jitterFactor(model.random, latency.jitter) * slownessOf(fault);
  const plan = {
    id: `chatcmpl-${call.requestId}`,
    model: model.name,
    created: Math.floor(call.clock.now() / 1000),
    answer: spoilAnswer(answer, fault),
    choices,
    promptTokens,
    firstTokenMs: latency.first_token_ms * slowness,
    tokensPerSecond: slowness === 0 ? 0 : latency.tokens_per_s / slowness,
    includeUsage: usageAsked(body),
    headers: headersOf(call),
    fault,
    onTokens: (count: number) => model.count('tokens_out', count),
  };
  await (body['stream'] === true ? sendStream(reply, plan) : sendWhole(reply, plan));
}

export async function answerEmbeddings(call: ModelCall): Promise<void> {
  const { model, body, reply } = call;
  const inputs = inputsOf(body);
  if (inputs === null) return sendError(reply, 400, "'input' must be a text or a list that is not empty.");
  if (!letIn(call, embeddingTokens(inputs), 0)) return;
  const fault = model.nextFault();
  if (fault !== null && playInsteadOfAnswer(call, fault)) return;
  const { latency, dimensions } = model.settings;
  await reply.pause(latency.first_token_ms * jitterFactor(model.random, latency.jitter) * slownessOf(fault));
  if (!reply.open) return;
  await sendSpoiltJson(reply, headersOf(call), embeddingJson(body, model.name, inputs, dimensions), fault);
}

/** Books the call; false: it was refused and has its answer. */
function letIn(call: ModelCall, tokensIn: number, tokensOut: number): boolean {
  const { model } = call;
  const admission = model.limits.admit(tokensIn + tokensOut);
  if (!admission.admitted) {
    model.countRefusal(admission.reason);
    sendRefusal(call, admission.reason, admission.limit, admission.retryAfterMs);
    return false;
  }
  call.onHeld();
  model.count('accepted');
  model.count('tokens_in', tokensIn);
  return true;
}

function playInsteadOfAnswer(call: ModelCall, fault: Fault): boolean {
  if (fault.kind !== 'status') return playInstead(call.reply, fault);
  if (fault.reason !== undefined) sendRefusal(call, fault.reason, 0, fault.retry_after_ms ?? null);
  else sendError(call.reply, fault.status ?? 500, 'The simulator was told to fail.', null, headersOf(call));
  return true;
}

function sendRefusal(call: ModelCall, refusal: Refusal, limit: number, retryAfterMs: number | null): void {
  const { model, requestId, clock } = call;
  const facts = { model: model.name, limit, retryAfterMs, requestId, now: clock.now() };
  const { status, headers, json } = refusalReply(model.settings.family, refusal, facts);
  sendJson(call.reply, status, { ...headersOf(call), ...headers }, json);
}

function headersOf({ model, requestId, clock }: ModelCall): Headers {
  const { limits, settings } = model;
  return {
    'x-request-id': requestId,
    ...limitHeaders(settings.family, limits.calls(), limits.tokens(), clock.now()),
  };
}

function slownessOf(fault: Fault | null): number {
  return fault?.kind === 'slow' ? (fault.factor ?? SLOW_FACTOR) : 1;
}

function choicesOf(body: JsonObject): number {
  const asked = body['n'];
  return typeof asked === 'number' && asked >= 1 ? Math.min(MOST_CHOICES, Math.floor(asked)) : 1;
}

function usageAsked(body: JsonObject): boolean {
  const options = body['stream_options'];
  return (
    typeof options === 'object' && options !== null && 'include_usage' in options && options.include_usage === true
  );
}
