import type { IncomingMessage, ServerResponse } from 'node:http';
import { isJsonObject, SystemClock, type Clock, type JsonObject } from '@spillway/contracts';
import { answerChat, answerEmbeddings, type ModelCall } from './answer-call';
import { answerControl } from './control';
import { sendError, sendJson } from './json-reply';
import { ModelRegistry, type RegistryOptions } from './model-registry';
import type { ModelState } from './model-state';
import { playStep } from './play-step';
import { readText } from './read-text';
import { Reply } from './reply';
import { RequestLog, type LoggedRequest } from './request-log';

export interface ProviderOptions extends RegistryOptions {
  /** The time that limits go by; latencies are real time. */
  readonly clock?: Clock | undefined;
  /** How many requests the log keeps; default 1000. */
  readonly logEntries?: number | undefined;
}

/** Any name is a model; a list should still name one. */
const MODEL_OF_AN_EMPTY_LIST = 'simulator';

/** Reads requests, logs them, and finds out who answers: the control, a script or a model. */
export class Provider {
  readonly registry: ModelRegistry;
  readonly log: RequestLog;
  private readonly clock: Clock;
  private received = 0;

  constructor(options: ProviderOptions) {
    this.clock = options.clock ?? new SystemClock();
    this.registry = new ModelRegistry(options, this.clock);
    this.log = new RequestLog(options.logEntries ?? 1000);
  }

  async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = request.url ?? '/';
    const text = await readText(request);
    if (text === null) return sendError(new Reply(response), 413, 'The body is too large.');
    if (url.startsWith('/control/')) return this.control(request, response, text);
    const body = parseObject(text);
    const name = typeof body?.['model'] === 'string' ? body['model'] : null;
    const model = name === null ? null : this.registry.find(name);
    this.logRequest(request, response, text, name);
    await this.answer(request, response, { url, text, body, name, model });
  }

  private async answer(request: IncomingMessage, response: ServerResponse, asked: Asked): Promise<void> {
    const { url, text, body, name, model } = asked;
    let held = false;
    const reply = new Reply(response, end => {
      if (held) model?.limits.release();
      if (end === 'left') model?.count('aborted');
    });
    const onHeld = (): void => {
      held = true;
    };
    model?.count('requests');
    const step = this.registry.step(model, { headers: request.headers, text, body });
    if (step !== null) {
      model?.limits.hold();
      onHeld();
      model?.count('accepted');
      model?.count('scripted');
      return playStep(reply, step, body, this.clock.now());
    }
    const method = request.method ?? '';
    const answerer = answererOf(method, pathOf(url));
    if (answerer === null) return sendError(reply, 404, `Invalid URL (${method} ${pathOf(url)})`);
    if (answerer === 'models') return sendJson(reply, 200, {}, this.modelsJson());
    if (body === null || name === null) return sendError(reply, 400, "The body must be an object with a 'model'.");
    if (model === null) return sendError(reply, 404, `The model '${name}' does not exist.`, 'model_not_found');
    await answerer({ model, body, requestId: this.nextId(), clock: this.clock, reply, onHeld });
  }

  private control(request: IncomingMessage, response: ServerResponse, text: string): void {
    const url = new URL(request.url ?? '/', 'http://simulator');
    const { status, value } = answerControl({ method: request.method ?? '', url, text }, this);
    sendJson(new Reply(response), status, {}, JSON.stringify(value));
  }

  private logRequest(request: IncomingMessage, response: ServerResponse, body: string, model: string | null): void {
    const { method = '', url = '/', headers } = request;
    const entry: LoggedRequest = {
      at: this.clock.now(),
      method,
      url,
      headers,
      model,
      body,
      status: null,
      closed_at: null,
      finished: false,
    };
    this.log.add(entry);
    response.once('close', () => {
      entry.status = response.headersSent ? response.statusCode : null;
      entry.closed_at = this.clock.now();
      entry.finished = response.writableFinished;
    });
  }

  private modelsJson(): string {
    const created = Math.floor(this.clock.now() / 1000);
    const known = this.registry.names();
    const names = known.length > 0 ? known : [MODEL_OF_AN_EMPTY_LIST];
    const data = names.map(id => ({ id, object: 'model', created, owned_by: 'spillway-simulator' }));
    return JSON.stringify({ object: 'list', data });
  }

  private nextId(): string {
    this.received += 1;
    return `sim-${this.received.toString(36)}`;
  }
}

interface Asked {
  readonly url: string;
  readonly text: string;
  readonly body: JsonObject | null;
  readonly name: string | null;
  readonly model: ModelState | null;
}

type Answerer = (call: ModelCall) => Promise<void>;

/** Vendors differ in what comes before these endings; any is right. */
function answererOf(method: string, path: string): Answerer | 'models' | null {
  if (method === 'POST' && path.endsWith('/chat/completions')) return answerChat;
  if (method === 'POST' && path.endsWith('/embeddings')) return answerEmbeddings;
  return method === 'GET' && path.endsWith('/models') ? 'models' : null;
}

function pathOf(url: string): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}

function parseObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}
