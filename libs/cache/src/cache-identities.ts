import { hash } from 'node:crypto';
import type { Call, Caller, RouteSettings } from '@spillway/contracts';
import type { CacheGenerations } from './cache-generations';
import type { RequestIdentity } from './request-key';

/** Who shares cached answers: the calls of a key, the keys of a team, or everybody. */
export type CacheShare = 'key' | 'team' | 'all';

/** What tells the requests of calls apart, in every tier of the cache. */
export class CacheIdentities {
  /** By route, as long as its settings last. */
  private readonly models = new WeakMap<RouteSettings, string>();

  constructor(
    private readonly generations: CacheGenerations,
    /** Asked anew for every call. */
    private readonly share: () => CacheShare = () => 'key',
  ) {}

  /** Null where answers are never shared. */
  of({ operation, caller, controls, route, headers, body }: Call): RequestIdentity | null {
    if (operation !== 'chat') return null;
    return {
      namespace: this.modelOf(route) + namespaceOf(caller, this.share()),
      scope: controls.scope,
      route: route.name,
      generation: this.generations.current(route.name, controls.scope),
      beta: headers['openai-beta'],
      body,
    };
  }

  /** Whether nothing was cleared since that this request's answer was kept under. */
  isCurrent({ route, scope, generation }: Pick<RequestIdentity, 'route' | 'scope' | 'generation'>): boolean {
    return this.generations.current(route, scope) === generation;
  }

  /**
   * Of as many letters for every model: where the answers of a route come from, when all is well. A route that is given
   * another model must not go on answering with what the old one said.
   */
  private modelOf(route: RouteSettings): string {
    let known = this.models.get(route);
    if (known === undefined) {
      const [best] = route.chain;
      const place = JSON.stringify([best?.provider.base_url, best?.upstream_model]);
      this.models.set(route, (known = hash('sha256', place, 'base64url').slice(0, 11)));
    }
    return known;
  }
}

/** The same text for callers that share, and for no other, whatever keys and teams are called. */
function namespaceOf({ name, team }: Caller, share: CacheShare): string {
  if (share === 'all') return 'all';
  return share === 'team' && team !== null ? `team:${team}` : `key:${name}`;
}
