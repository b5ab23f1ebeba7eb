import { Readable } from 'node:stream';
import type { CacheSurvey, SeedStatus } from '@spillway/seeding';

/** What Spillway, or the way to it, has to say against a request. */
export class Refusal extends Error {
  constructor(
    message: string,
    /** Null: there was no answer. */
    readonly status: number | null,
  ) {
    super(message);
  }
}

export interface Target {
  readonly url: string;
  readonly adminKey: string | null;
  readonly route: string | null;
  readonly key: string | null;
}

const ANSWER_WITHIN_MS = 10_000;

/** A running Spillway, as its operator sees it. All that is asked of it may throw a Refusal. */
export class Spillway {
  constructor(private readonly target: Target) {}

  /** Begins a seed, or finds the one of the same text that is under way. */
  sow(lines: AsyncIterable<Uint8Array>): Promise<{ readonly id: string }> {
    return this.ask(`/admin/seed${this.terms()}`, textOf(lines));
  }

  status(id: string): Promise<SeedStatus> {
    return this.ask(`/admin/seed/${id}`, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
  }

  lookUp(lines: AsyncIterable<Uint8Array>): Promise<CacheSurvey> {
    return this.ask(`/admin/cache/lookup${this.terms()}`, textOf(lines));
  }

  private terms(): string {
    const { route, key } = this.target;
    const terms = new URLSearchParams({ ...(route === null ? {} : { route }), ...(key === null ? {} : { key }) });
    return terms.size === 0 ? '' : `?${terms.toString()}`;
  }

  private async ask<Answer>(path: string, request: RequestInit): Promise<Answer> {
    const { url, adminKey } = this.target;
    const headers = new Headers(request.headers);
    if (adminKey !== null) headers.set('authorization', `Bearer ${adminKey}`);
    const response = await fetch(url + path, { ...request, headers }).catch((error: unknown) => {
      throw new Refusal(`no answer from ${url} (${reasonOf(error)}); is Spillway running there?`, null);
    });
    const body: unknown = await response.json().catch(() => null);
    if (response.ok && body !== null) return body as Answer;
    throw new Refusal(messageIn(body) ?? `${url} answered with status ${response.status}`, response.status);
  }
}

function textOf(lines: AsyncIterable<Uint8Array>): RequestInit {
  // A body that comes in pieces can only be sent this way.
  const streamed = { body: Readable.toWeb(Readable.from(lines)), duplex: 'half' };
  return { method: 'POST', headers: { 'content-type': 'application/x-ndjson' }, ...(streamed as RequestInit) };
}

function messageIn(body: unknown): string | null {
  const message = (body as { readonly error?: { readonly message?: unknown } } | null)?.error?.message;
  return typeof message === 'string' ? message : null;
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && cause.message !== '' ? cause.message : String(error);
}
