import OpenAI, { type ClientOptions } from 'openai';
import type { ProviderSettings } from '@spillway/contracts';
import type { Exchange, ExchangeHead } from './exchange';
import type { Headers as AnswerHeaders } from './rate-limits';

/** The SDK always sets a timer of its own; this is the longest one Node can hold. Limits of time are ours. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** Names in the query of an address whose values are nobody's business. */
const CREDENTIAL = /key|token|secret|sig|auth|code/i;

/** What goes through the SDK to the fetch below it, beside what the SDK knows of. */
interface Passenger {
  readonly exchange: Exchange;
  readonly extraHeaders: Readonly<Record<string, string>>;
}

/** Where a path leads, with the headers of every request there. */
interface Target {
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What the SDK hands to a fetch, with the passenger that came with the call. */
interface LeanInit extends Passenger {
  readonly target: Target;
  readonly body: Buffer;
}

/** One provider's OpenAI client, on a transport of our own in place of the fetch layer, its greatest cost. */
export class ProviderClient {
  readonly host: string;
  /** What callers are never told: credentials, and the address, which may be of an inner network. */
  readonly secrets: readonly (string | undefined)[];
  private readonly sdk: LeanSdk;

  constructor(
    settings: ProviderSettings,
    private readonly onAnswer: (headers: AnswerHeaders) => void,
  ) {
    const { origin, pathname, host, hostname, port, searchParams } = new URL(settings.base_url);
    const query = Array.from(searchParams);
    const hidden = query.flatMap(([name, value]) => (CREDENTIAL.test(name) ? value : []));
    this.host = hostname;
    // A name alone may be a word.
    const address = port === '' ? [origin] : [origin, host];
    this.secrets = [settings.api_key, ...hidden, ...Object.values(settings.headers), ...address];
    this.sdk = new LeanSdk({
      baseURL: origin + pathname.replace(/\/+$/, ''),
      // Such as the `api-version` of Azure: it comes after the path of each request.
      defaultQuery: Object.fromEntries(query),
      // The SDK refuses to start without a key; local providers need none.
      apiKey: settings.api_key || 'none',
      organization: null,
      project: null,
      logLevel: 'off',
      maxRetries: 0,
      timeout: NO_TIMEOUT_MS,
      fetch: leanFetch,
      defaultHeaders: {
        'content-type': 'application/json',
        'accept-encoding': 'identity',
        ...(settings.api_key ? {} : { authorization: null }),
        ...settings.headers,
      },
    });
  }

  /** Sends a body through an exchange and waits for the head of the answer, of whatever status. */
  async post(
    path: string,
    body: Buffer,
    extraHeaders: Readonly<Record<string, string>>,
    exchange: Exchange,
  ): Promise<ExchangeHead> {
    const fetchOptions: ClientOptions['fetchOptions'] & Passenger = { exchange, extraHeaders };
    const response: unknown = await this.sdk.post(path, { body, fetchOptions }).asResponse();
    if (!(response instanceof LeanResponse)) throw new TypeError('the SDK answered with a response that is not ours');
    this.onAnswer(response.headers);
    return response;
  }
}

type BuildRequest = OpenAI['buildRequest'];

/** The SDK lists the headers of every request for its log, also when that is off; ours travel in the target. */
const NO_HEADERS = new Headers();

/** The SDK makes URL and headers of every call anew, a third of its cost; here it makes them once per path. */
class LeanSdk extends OpenAI {
  private readonly targets = new Map<string, Promise<Target>>();

  override async buildRequest(...[options]: Parameters<BuildRequest>): ReturnType<BuildRequest> {
    const { path, body, fetchOptions } = options;
    let target = this.targets.get(path);
    if (!target) {
      target = super.buildRequest({ method: 'post', path }).then(({ req: { headers }, url }) => targetOf(url, headers));
      this.targets.set(path, target);
    }
    const passengers = { body: body as Buffer, target: await target, ...fetchOptions };
    return { req: { method: 'POST', headers: NO_HEADERS, ...passengers }, url: path, timeout: NO_TIMEOUT_MS };
  }

  /** Without the timer, listener and copies of the SDK's own: who aborts is the exchange. */
  override fetchWithTimeout(...[url, init]: Parameters<OpenAI['fetchWithTimeout']>): Promise<Response> {
    return leanFetch(url, init);
  }
}

function targetOf(address: string, headers: Headers): Target {
  const { origin, pathname, search } = new URL(address);
  return { origin, path: pathname + search, headers: Object.fromEntries(headers) };
}

/** As much of a Response as the SDK looks at. It is always `ok`: the SDK would read, and lose, the body of any other. */
class LeanResponse implements ExchangeHead {
  readonly ok = true;

  constructor(
    readonly status: number,
    readonly headers: ReadonlyMap<string, string>,
  ) {}
}

/** Gets what `buildRequest` has put in. */
async function leanFetch(_url: unknown, init?: unknown): Promise<Response> {
  const { exchange, extraHeaders, target, body } = init as LeanInit;
  const { status, headers: answered } = await exchange.open({
    origin: target.origin,
    path: target.path,
    method: 'POST',
    // What is configured wins over what a caller sends by the same name.
    headers: Object.assign({}, extraHeaders, target.headers),
    body,
  });
  return new LeanResponse(status, answered) as unknown as Response;
}
