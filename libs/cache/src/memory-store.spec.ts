import { ManualClock } from '../../../test/support/manual-clock';
import type { CachedAnswer } from './cached-answer';
import { MemoryStore } from './memory-store';

const clock = new ManualClock();
const answer = (characters: number): CachedAnswer => ({
  rest: 'x'.repeat(characters),
  model: null,
  usage: null,
  digest: null,
  madeAt: clock.time,
  expiresAt: clock.time + 1000,
});

async function kept(store: MemoryStore, keys: string): Promise<string> {
  const found = await Promise.all(Array.from(keys, async key => ((await store.get(key)) === null ? '' : key)));
  return found.join('');
}

describe('MemoryStore', () => {
  it('holds so many answers, the least recently used go first', async () => {
    const store = new MemoryStore({ entries: 3, bytes: 1_000_000 }, clock);
    for (const key of 'abc') await store.set(key, answer(1));
    await store.get('a');
    await store.set('d', answer(1));
    expect(await kept(store, 'abcd')).toBe('acd');
  });

  it('holds so many bytes, however few the answers are', async () => {
    const store = new MemoryStore({ entries: 1000, bytes: 10_000 }, clock);
    for (const key of 'abc') await store.set(key, answer(2000));
    expect(await kept(store, 'abc')).toBe('bc');
    await store.set('d', answer(6000));
    expect(await kept(store, 'bcd')).toBe('bc');
  });

  it('does not keep an answer that was replaced by one too large', async () => {
    const store = new MemoryStore({ entries: 1, bytes: 10_000 }, clock);
    await store.set('a', answer(1));
    await store.set('a', answer(6000));
    expect(await store.get('a')).toBeNull();
  });
});
