import { cacheableCall } from '../../../test/support/cached-calls';
import { MemoryGenerations } from './cache-generations';
import { CacheIdentities, type CacheShare } from './cache-identities';

describe('who shares cached answers', () => {
  const namespaceOf = (share: CacheShare, name: string, team: string | null): string | undefined =>
    new CacheIdentities(new MemoryGenerations(), () => share).of(cacheableCall({ caller: { name, team } }))?.namespace;

  it('are the keys of a team, and never those without one', () => {
    expect(namespaceOf('team', 'a', 't')).toBe(namespaceOf('team', 'b', 't'));
    expect(namespaceOf('team', 'a', null)).not.toBe(namespaceOf('team', 'b', null));
    expect(namespaceOf('team', 'a', 'null')).not.toBe(namespaceOf('team', 'a', null));
  });

  it('are never a key and a team of one name', () => {
    const all = [namespaceOf('team', 'x', 'all'), namespaceOf('team', 'all', null), namespaceOf('all', 'x', null)];
    expect(new Set(all).size).toBe(3);
  });

  it('are those of one key where nothing else is said, whatever its team', () => {
    expect(namespaceOf('key', 'a', 't')).not.toBe(namespaceOf('key', 'b', 't'));
    expect(namespaceOf('key', 'a', 't')).toBe(namespaceOf('key', 'a', null));
  });
});
