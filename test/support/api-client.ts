import { setTimeout as sleep } from 'node:timers/promises';

/** What a body may hold, as far as tests look at it. */
interface ReplyBody {
  readonly id?: string;
  readonly object?: string;
  readonly created?: number;
  readonly model?: string;
  readonly choices?: readonly Choice[];
  readonly usage?: Readonly<Record<string, number>> | null;
  readonly error?: {
    readonly message: string;
    readonly type: string | null;
    readonly param: string | null;
    readonly code: string | number | null;
  };
}

interface Message {
  readonly role?: string;
  readonly content?: string | null;
  readonly tool_calls?: readonly { readonly id?: string; readonly function?: { readonly arguments?: string } }[];
}

interface Choice {
  readonly index?: number;
  readonly message?: Message;
  readonly delta?: Message;
  readonly finish_reason?: string | null;
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  /** The whole body as text. */
  readonly raw: string;
  /** The same, parsed; empty where it is no JSON. */
  readonly body: ReplyBody;
  /** What the first choice says; the error's code where there is an error. */
  readonly said: string;
  /** Milliseconds. */
  readonly took: number;
}

export interface StreamReply extends Reply {
  /** The data of the events, in order. */
  readonly events: readonly { readonly data: string; readonly at: number }[];
  /** The chunks among them. */
  readonly chunks: readonly ReplyBody[];
}

export interface Request {
  readonly body: object | string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: string;
  readonly signal?: AbortSignal | undefined;
}

/** An HTTP client of one Spillway with one key. It looks at bytes, where an SDK would make up for faults. */
export class ApiClient {
  constructor(
    readonly url: string,
    private readonly key: string,
  ) {}

  /** Another caller of the same Spillway. */
  as(key: string): ApiClient {
    return new ApiClient(this.url, key);
  }

  async send(request: Request): Promise<Reply> {
    const startedAt = Date.now();
    const response = await this.post(request);
    return replyOf(response, await response.text(), startedAt);
  }

  /** Reads a stream to its end; `seen` is told of every event as it comes. */
  async stream({ body, ...rest }: Request, seen: (data: string) => void = () => undefined): Promise<StreamReply> {
    const startedAt = Date.now();
    const streaming = typeof body === 'string' ? body : { ...body, stream: true };
    const response = await this.post({ ...rest, body: streaming });
    const decoder = new TextDecoder();
    const events: { data: string; at: number }[] = [];
    let raw = '';
    let position = 0;
    for await (const piece of response.body ?? []) {
      raw += decoder.decode(piece as Uint8Array, { stream: true });
      for (let end = raw.indexOf('\n', position); end >= 0; end = raw.indexOf('\n', position)) {
        const line = raw.slice(position, end);
        position = end + 1;
        if (!line.startsWith('data: ')) continue;
        events.push({ data: line.slice(6), at: Date.now() });
        seen(line.slice(6));
      }
    }
    const chunks = events.filter(({ data }) => data !== '[DONE]').map(({ data }) => JSON.parse(data) as ReplyBody);
    const said = chunks.map(({ choices }) => choices?.[0]?.delta?.content ?? '').join('');
    const reply = replyOf(response, raw, startedAt);
    return { ...reply, events, chunks, said: events.length > 0 ? said : reply.said };
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
    return this.request('GET', path, headers);
  }

  async request(method: string, path: string, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
    const startedAt = Date.now();
    const response = await fetch(this.url + path, { method, headers });
    return replyOf(response, await response.text(), startedAt);
  }

  /** The sum of a metric over all its series that carry these labels. */
  async metric(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> {
    const { raw } = await this.get('/metrics');
    const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
    return raw
      .split('\n')
      .filter(line => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
      .filter(line => wanted.every(label => line.includes(label)))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  }

  private post({ body, headers = {}, path = '/v1/chat/completions', signal }: Request): Promise<Response> {
    return fetch(this.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.key}`, 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...(signal && { signal }),
    });
  }
}

function replyOf(response: Response, raw: string, startedAt: number): Reply {
  const body = parse(raw);
  const said = body.choices?.[0]?.message?.content ?? String(body.error?.code ?? '');
  return { status: response.status, headers: response.headers, raw, body, said, took: Date.now() - startedAt };
}

function parse(text: string): ReplyBody {
  try {
    return JSON.parse(text) as ReplyBody;
  } catch {
    return {};
  }
}

/** Waits until something holds. */
export async function until(condition: () => boolean | Promise<boolean>, ms = 15_000): Promise<void> {
  const end = Date.now() + ms;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error('waited in vain');
    await sleep(5);
  }
}
