import { mkdtempSync, rmSync, appendFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VectorStore } from './vector-store';

describe('the vector store', () => {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-vectors-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const journal = join(folder, 'journal.jsonl');
  const put = (id: string, vector: number[], scope: string) => ({
    method: 'PUT',
    url: '/collections/c/points?wait=true',
    body: { points: [{ id, vector, payload: { scope } }] },
  });
  const nearest = (store: VectorStore) => {
    const filter = { must: [{ key: 'scope', match: { value: 'a' } }] };
    const query = { query: [1, 0], filter, limit: 1, with_payload: ['scope'] };
    return store.handle({ method: 'POST', url: '/collections/c/points/query', body: query }).body;
  };

  it('has what was written to it after it died, even in the middle of a line', () => {
    const store = new VectorStore(journal);
    const config = { vectors: { size: 2, distance: 'Cosine' } };
    expect(store.handle({ method: 'PUT', url: '/collections/c', body: config }).status).toBe(200);
    store.handle(put('1', [0, 1], 'a'));
    store.handle(put('2', [1, 0.1], 'a'));
    store.handle(put('3', [1, 0], 'b'));
    expect(store.handle(put('4', [1], 'a')).status).toBe(400);
    const before = nearest(store);
    expect(before).toMatchObject({ result: { points: [{ id: '2' }] } });
    appendFileSync(journal, '{"method":"PU');
    expect(nearest(new VectorStore(journal))).toEqual(before);
  });
});
