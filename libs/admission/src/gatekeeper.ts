import { Injectable } from '@nestjs/common';
import { hash, timingSafeEqual } from 'node:crypto';
import { isIP, isIPv4 } from 'node:net';
import { InvalidApiKey, NotAllowed, type Caller } from '@spillway/contracts';
import { ConfigStore, type Settings } from '@spillway/config';

/** Where a request comes from and what it shows. */
export interface Credentials {
  readonly authorization: string | undefined;
  /** The peer's address; a forwarded one is never trusted. */
  readonly remoteAddress: string | undefined;
  /** The page that makes a browser send it, as the browser says; other programs say nothing. */
  readonly page?: { readonly origin: string | undefined; readonly host: string | undefined } | undefined;
}

const ANONYMOUS: Caller = { name: 'anonymous', priority: 'normal', max_priority: 'critical', routes: null, team: null };

/** How an address of IPv4 is written on a socket of IPv6. */
const IPV4_MAPPED = '::ffff:';

/** Knows who may call, and who may operate. */
@Injectable()
export class Gatekeeper {
  private known: { settings: Settings; callers: ReadonlyMap<string, Caller> } | null = null;

  constructor(private readonly config: ConfigStore) {}

  /** @throws InvalidApiKey, or NotAllowed where no keys are configured and the caller is not on this machine. */
  identify({ authorization, remoteAddress }: Credentials): Caller {
    const callers = this.callers();
    if (callers.size === 0) {
      if (isLoopback(remoteAddress)) return ANONYMOUS;
      throw new NotAllowed('Only this machine is served until API keys are configured.', { retryable: false });
    }
    const caller = callers.get(digest(bearer(authorization)));
    if (caller === undefined) throw new InvalidApiKey('A known API key is required.', { retryable: false });
    return caller;
  }

  /** The caller that a configured key stands for; without a name the first one. Null: there is no such key. */
  named(name?: string): Caller | null {
    const callers = Array.from(this.callers().values());
    if (callers.length === 0) return name === undefined || name === ANONYMOUS.name ? ANONYMOUS : null;
    return (name === undefined ? callers[0] : callers.find(caller => caller.name === name)) ?? null;
  }

  /**
   * Where no admin key is set, being on this machine is the credential, which the browser of this machine would lend to
   * any page that it shows: of another origin, or of a name whose owner lets it point here by now.
   * @throws InvalidApiKey or NotAllowed unless the admin key is shown, or none is set and the peer is this machine.
   */
  requireAdmin({ authorization, remoteAddress, page }: Credentials): void {
    const { key } = this.config.current.admin;
    if (key === undefined || key === '') {
      if (isForeign(page)) {
        throw new NotAllowed(
          'Until an admin key is set, pages may operate Spillway only from its own localhost or IP address.',
          {
            retryable: false,
          },
        );
      }
      if (isLoopback(remoteAddress)) return;
      throw new NotAllowed('Only this machine may operate Spillway until an admin key is set.', { retryable: false });
    }
    if (!timingSafeEqual(Buffer.from(digest(bearer(authorization))), Buffer.from(digest(key)))) {
      throw new InvalidApiKey('The admin key is required.', { retryable: false });
    }
  }

  /**
   * Who may see the page that asks for the admin key: everybody, as a browser shows no key before it has the page; but
   * this machine alone where there is no key to ask for.
   * @throws NotAllowed
   */
  requireMayAskKey(credentials: Credentials): void {
    if (!this.config.current.admin.key) this.requireAdmin(credentials);
  }

  /** Callers by the digest of their key, so that a look-up tells nothing about a key by its time. */
  private callers(): ReadonlyMap<string, Caller> {
    const settings = this.config.current;
    if (this.known?.settings !== settings) {
      const callers = new Map<string, Caller>();
      for (const { name, key, priority, max_priority, routes, team } of settings.keys) {
        callers.set(digest(key), {
          name,
          priority,
          max_priority,
          routes: routes ?? null,
          team: team ?? null,
        });
      }
      this.known = { settings, callers };
    }
    return this.known.callers;
  }
}

function digest(text: string): string {
  return hash('sha256', text);
}

function bearer(authorization: string | undefined): string {
  return /^Bearer\s+(.*)$/i.exec(authorization ?? '')?.[1]?.trim() ?? '';
}

function isForeign(page: Credentials['page']): boolean {
  if (page?.origin === undefined) return false;
  if (!URL.canParse(page.origin)) return true;
  const { host, hostname } = new URL(page.origin);
  return host !== page.host?.toLowerCase() || !isFixed(hostname);
}

/** Whether nobody can let it point to another machine. */
function isFixed(hostname: string): boolean {
  return /^(?:.+\.)?localhost$/.test(hostname) || isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0;
}

function isLoopback(address: string | undefined): boolean {
  const plain = address?.startsWith(IPV4_MAPPED) ? address.slice(IPV4_MAPPED.length) : (address ?? '');
  return plain === '::1' || (plain.startsWith('127.') && isIPv4(plain));
}
