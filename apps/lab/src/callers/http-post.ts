import { Agent, request, type Dispatcher } from 'undici';

export interface HttpReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Parsed; null where it is no JSON. */
  readonly body: unknown;
}

/** Connections without a limit: calls never wait for each other in the client. */
export class HttpPoster {
  private readonly agent: Dispatcher = new Agent({ connections: null, headersTimeout: 0, bodyTimeout: 0 });

  /** Rejects where no answer came, or the caller gave up. */
  async post(
    url: string,
    body: object,
    headers: Readonly<Record<string, string>>,
    signal?: AbortSignal,
  ): Promise<HttpReply> {
    const response = await request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      dispatcher: this.agent,
      ...(signal === undefined ? {} : { signal }),
    });
    return { status: response.statusCode, headers: response.headers, body: parsed(await response.body.text()) };
  }

  close(): Promise<void> {
    return this.agent.destroy();
  }
}

/** What the first choice of a completion says; empty where it is none. */
export function contentOf(body: unknown): string {
  const completion = body as { choices?: readonly { message?: { content?: string | null } }[] } | null;
  return completion?.choices?.[0]?.message?.content ?? '';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
