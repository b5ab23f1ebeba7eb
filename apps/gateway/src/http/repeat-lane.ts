import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { Clock, PRIORITIES, type Answer, type Caller, type IncomingCall } from '@spillway/contracts';
import { Gatekeeper } from '@spillway/admission';
import { ConfigStore, type Settings } from '@spillway/config';
import { CallReport, type Ending } from '@spillway/pipeline';
import { requestIdOf, traceIdOf } from './caller-connection';
import { readBody, type ReadBody } from './read-body';
import { Reception } from './reception';
import { SharedHead, endWith, type Headers } from './response-headers';

/** Where chat calls are posted, spelled plainly; other spellings walk the path. */
const ADDRESSES: ReadonlySet<string | undefined> = new Set(
  ['', ...PRIORITIES.map(priority => `/${priority}`)].map(prefix => `${prefix}/v1/chat/completions`),
);
/** Headers that differ from call to call and shape no answer but by what is read from them here. */
const OF_ONE_CALL = new Set(['content-length', 'x-request-id', 'traceparent', 'tracestate']);
/** Longer requests cost more to hash than the lane saves. */
const LONGEST_BODY = 65_536;
/** Calls that are remembered, at about two kilobytes each. */
const MOST_REMEMBERED = 10_000;

/** What was done with a request before its path began. */
interface Receipt {
  readonly body: ReadBody;
  /** Takes the answer that the path gave it for equal requests to come. */
  readonly learn: (call: IncomingCall, answer: Answer, ending: Ending, headers: Headers) => void;
}

/** A call that was answered, without its text. */
interface Remembered {
  readonly caller: Caller;
  readonly repeat: NonNullable<Answer['repeat']>;
  readonly head: SharedHead;
  readonly ending: Ending;
}

const receipts = new WeakMap<IncomingMessage, Receipt>();

export function receiptOf(request: IncomingMessage): Receipt | undefined {
  return receipts.get(request);
}

/**
 * In front of the server: a request that is the same to the byte as one that was answered from the memory of this
 * process is answered so again, before it is parsed (docs/adr/0013-a-lane-for-repeated-requests.md). It leaves by the
 * same exits as a call that walked the path, with the facts that this call had.
 */
@Injectable()
export class RepeatLane {
  private settings: Settings;
  private readonly remembered = new Map<string, Remembered>();

  constructor(
    private readonly gatekeeper: Gatekeeper,
    private readonly config: ConfigStore,
    private readonly reception: Reception,
    private readonly report: CallReport,
    private readonly clock: Clock,
  ) {
    this.settings = config.current;
  }

  /** Answers a request, or lets it walk. */
  serve(request: IncomingMessage, response: ServerResponse, walk: () => void): void {
    const caller = this.callerOf(request);
    const head = caller && headOf(request);
    if (caller === null || head === null) return walk();
    readBody(request, this.settings.server.body_limit, body => {
      try {
        const key = 'bytes' in body ? keyOf(head, body.bytes) : null;
        if (key !== null && this.answer(this.known(key, caller), request, response)) return;
        receipts.set(request, { body, learn: this.learning(key, this.settings) });
        walk();
      } catch (error) {
        response.destroy(error as Error);
      }
    });
  }

  /** Null for whoever the doorkeeper would send away, and for what is never answered here. */
  private callerOf({ method, url, headers, socket }: IncomingMessage): Caller | null {
    const isShort = Number(headers['content-length']) <= LONGEST_BODY;
    if (method !== 'POST' || !ADDRESSES.has(url) || !isShort) return null;
    try {
      return this.gatekeeper.identify({
        authorization: headers.authorization,
        remoteAddress: socket.remoteAddress,
      });
    } catch {
      return null;
    }
  }

  /** All that was learned under other settings is forgotten. */
  private known(key: string, caller: Caller): Remembered | undefined {
    if (this.settings !== this.config.current) {
      this.settings = this.config.current;
      this.remembered.clear();
    }
    const known = this.remembered.get(key);
    return known?.caller === caller ? known : undefined;
  }

  private answer(known: Remembered | undefined, request: IncomingMessage, response: ServerResponse): boolean {
    if (known === undefined || !this.reception.isOpen || response.destroyed) return false;
    const receivedAt = this.clock.now();
    const part = known.repeat(receivedAt);
    if (part === null) return false;
    const { headers } = request;
    const call = { id: requestIdOf(headers), traceId: traceIdOf(headers), receivedAt };
    response.writeHead(200, known.head.of(call.id, part, receivedAt));
    endWith(part, response);
    this.report.ended(call, known.ending);
    if (response.writableLength > 0) this.reception.holdUntilSent(response);
    return true;
  }

  private learning(key: string | null, settings: Settings): Receipt['learn'] {
    return ({ caller, streaming, journal }, { repeat, outcome }, ending, headers) => {
      if (key === null || repeat === undefined || streaming || settings !== this.config.current) return;
      if (this.remembered.size >= MOST_REMEMBERED) this.forgetOldest();
      this.remembered.set(key, { caller, repeat, head: new SharedHead(journal, outcome, headers), ending });
    };
  }

  private forgetOldest(): void {
    for (const key of this.remembered.keys()) {
      this.remembered.delete(key);
      return;
    }
  }
}

function keyOf(head: string, body: Buffer): string {
  return hash('sha256', head + body.toString('latin1'), 'base64url');
}

/** The same text for requests whose heads mean the same; null for heads that are not compared. */
function headOf({ url, headers }: IncomingMessage): string | null {
  let head = `${url}\n`;
  for (const name in headers) {
    if (OF_ONE_CALL.has(name)) continue;
    const value = headers[name];
    if (typeof value !== 'string') return null;
    head += `${name}:${value}\n`;
  }
  return `${head}\n`;
}
