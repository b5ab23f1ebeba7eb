import type { Call, Caller } from '@spillway/contracts';
import type { CacheGenerations } from './cache-generations';
import type { RequestIdentity } from './request-key';

/** Who shares cached answers: the calls of a key, the keys of a team, or everybody. */
export type CacheShare = 'key' | 'team' | 'all';

/** What tells the requests of calls apart, in every tier of the cache. */
export class CacheIdentities {
  constructor(
    private readonly generations: CacheGenerations,
    /** Asked anew for every call. */
    private readonly share: () => CacheShare = () => 'key',
  ) {}

  /** Null where answers are never shared. */
  of({ operation, caller, controls, route, headers, body }: Call): RequestIdentity | null {
    if (operation !== 'chat') return null;
    return {
      namespace: namespaceOf(caller, this.share()),
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
}

/** The same text for callers that share, and for no other, whatever keys and teams are called. */
function namespaceOf({ name, team }: Caller, share: CacheShare): string {
  if (share === 'all') return 'all';
  return share === 'team' && team !== null ? `team:${team}` : `key:${name}`;
}
