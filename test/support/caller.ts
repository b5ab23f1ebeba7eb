import OpenAI from 'openai';

interface CallerOptions {
  /** What follows the address: the base path of a class, say. */
  readonly path?: string;
  readonly key?: string;
}

/** The OpenAI client as an application uses it, but for its retries: one call here is one call there. */
export function callerOf(url: string, { path = '/v1', key = 'none' }: CallerOptions = {}): OpenAI {
  return new OpenAI({ baseURL: url + path, apiKey: key, maxRetries: 0 });
}

export interface Asked {
  readonly text: string;
  readonly headers: Headers;
  readonly completion: OpenAI.Chat.ChatCompletion;
}

/** Asks one question and waits for the whole answer. */
export async function ask(
  caller: OpenAI,
  model: string,
  question: string,
  options: OpenAI.RequestOptions = {},
): Promise<Asked> {
  const body = { model, messages: [{ role: 'user' as const, content: question }] };
  const { data, response } = await caller.chat.completions.create(body, options).withResponse();
  return { text: data.choices[0]?.message.content ?? '', headers: response.headers, completion: data };
}

/** Asks one question and follows the answer as a stream. */
export async function askForStream(
  caller: OpenAI,
  model: string,
  question: string,
  options: OpenAI.RequestOptions = {},
): Promise<Omit<Asked, 'completion'> & { readonly chunks: readonly OpenAI.Chat.ChatCompletionChunk[] }> {
  const body = { model, stream: true as const, messages: [{ role: 'user' as const, content: question }] };
  const { data, response } = await caller.chat.completions.create(body, options).withResponse();
  const chunks: OpenAI.Chat.ChatCompletionChunk[] = [];
  for await (const chunk of data) chunks.push(chunk);
  return {
    text: chunks.map(chunk => chunk.choices[0]?.delta.content ?? '').join(''),
    headers: response.headers,
    chunks,
  };
}

/** The error that a call ends with. */
export async function failureOf(call: Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
  const caught: unknown = await call.then(
    () => null,
    (error: unknown) => error,
  );
  if (caught instanceof OpenAI.APIError) return caught;
  throw new Error('the call did not fail with an error of the API', { cause: caught });
}
