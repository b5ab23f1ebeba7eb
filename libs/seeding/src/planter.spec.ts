import {
  ClientGone,
  Journal,
  NoModelAvailable,
  NotCached,
  QueueTimeout,
  RefusedByModel,
  ShuttingDown,
  type Caller,
  type Errand,
  type ErrandEnd,
  type Outcome,
} from '@spillway/contracts';
import { configStore } from '../../../test/support/settings';
import { Planter } from './planter';
import type { Seed } from './seed-line';

const CALLER: Caller = { name: 'shop', priority: 'normal', max_priority: 'critical', routes: null, team: null };
const SEED: Seed = {
  scope: 'sku',
  route: 'qa',
  request: { messages: [{ role: 'user', content: 'Is it?' }] },
  answer: null,
};
const CONFIG = configStore({
  providers: { p: { base_url: 'http://127.0.0.1:1' } },
  models: { m: { provider: 'p' } },
  routes: { qa: { chain: ['m'] }, uncached: { chain: ['m'], cache: { exact: false } } },
});

const READY = { prepare: () => Promise.resolve(true) };

/** Looks, then asks, as often as `answers` has an answer; what is generated is kept where `keeps`. */
class Path {
  readonly asked: Errand[] = [];
  kept = false;

  constructor(
    private readonly answers: (Outcome | Error)[],
    private readonly keeps = true,
  ) {}

  async run(errand: Errand): Promise<ErrandEnd> {
    if (errand.headers?.['cache-control'] === 'only-if-cached') {
      if (!this.kept) throw new NotCached('');
      return this.end('cache-exact');
    }
    this.asked.push(errand);
    const answer = this.answers.shift() ?? 'generated';
    if (typeof answer !== 'string') throw answer;
    this.kept = this.keeps && answer === 'generated';
    return this.end(answer);
  }

  private end(outcome: Outcome): ErrandEnd {
    const journal = new Journal();
    journal.usage = { input: 5, output: 2 };
    return { body: {}, outcome, journal };
  }
}

describe('planting equal seeds at the same time', () => {
  const stops = { signal: new AbortController().signal, pausing: new AbortController().signal };

  it('asks once for all of them', async () => {
    const path = new Path([]);
    const planter = new Planter(path, CONFIG, READY, 1);
    const ends = await Promise.all([SEED, SEED, SEED].map(seed => planter.plant(seed, CALLER, stops)));
    expect(ends.map(({ kind }) => kind)).toEqual(['generated', 'hit', 'hit']);
    expect(path.asked).toHaveLength(1);
  });

  it('tries the next where one fails', async () => {
    const path = new Path([new RefusedByModel(400, '', 'text/plain')]);
    const planter = new Planter(path, CONFIG, READY, 1);
    const ends = await Promise.all([SEED, SEED].map(seed => planter.plant(seed, CALLER, stops)));
    expect(ends.map(({ kind }) => kind)).toEqual(['failed', 'generated']);
  });
});

describe('planting a seed', () => {
  const never = new AbortController().signal;
  const plant = (path: Path, seed: Partial<Seed> = {}, caller = CALLER, signal = never, pausing = signal) =>
    new Planter(path, CONFIG, READY, 1).plant({ ...SEED, ...seed }, caller, { signal, pausing });

  it('asks for it as a caller would, but LOW, patiently, and afresh', async () => {
    const path = new Path([]);
    expect(await plant(path)).toEqual({ kind: 'generated', tokens: 7 });
    expect(path.asked).toMatchObject([
      {
        body: { model: 'qa', messages: [{ role: 'user', content: 'Is it?' }] },
        caller: CALLER,
        priority: 'low',
        headers: { 'x-spillway-scope': 'sku', 'x-spillway-max-wait-ms': '600000', 'cache-control': 'no-cache' },
      },
    ]);
  });

  it('leaves alone what is there', async () => {
    const path = new Path([]);
    path.kept = true;
    expect(await plant(path, { answer: 'Another one.' })).toEqual({ kind: 'hit' });
    expect(path.asked).toEqual([]);
  });

  it('stores an answer that comes with the line', async () => {
    const path = new Path([]);
    expect(await plant(path, { answer: 'Yes.' })).toEqual({ kind: 'stored' });
    expect(path.asked).toMatchObject([{ given: 'Yes.' }]);
  });

  it('tries again what may pass, and no answer but a first-hand one will do', async () => {
    const path = new Path([new QueueTimeout(''), new NoModelAvailable(''), 'fallback-response', 'fallback-model']);
    expect(await plant(path)).toEqual({ kind: 'generated', tokens: 7 });
    expect(path.asked).toHaveLength(5);
  });

  it('gives up in the end, with the reason', async () => {
    const path = new Path(Array.from({ length: 9 }, () => new NoModelAvailable('All busy.')));
    expect(await plant(path)).toEqual({ kind: 'failed', reason: 'no_model_available: All busy.' });
    expect(path.asked).toHaveLength(6);
  });

  it('asks nobody before the question can be found in other words, tries again, and says so in the end', async () => {
    const path = new Path([]);
    const embedder = [false, false, true];
    const plantWith = (prepare: () => Promise<boolean>) =>
      new Planter(path, CONFIG, { prepare }, 1).plant(SEED, CALLER, { signal: never, pausing: never });
    expect(await plantWith(() => Promise.resolve(false))).toEqual({
      kind: 'failed',
      reason: 'the embedder gave no vector for the question',
    });
    expect(path.asked).toEqual([]);
    expect(await plantWith(async () => embedder.shift() ?? true)).toMatchObject({ kind: 'generated' });
    expect([path.asked.length, embedder]).toEqual([1, []]);
  });

  it('does not repeat what the model refused', async () => {
    const path = new Path([new RefusedByModel(400, '{}', 'application/json')]);
    expect(await plant(path)).toEqual({ kind: 'failed', reason: 'the model refused it with status 400' });
    expect(path.asked).toHaveLength(1);
  });

  it('says where an answer was not kept, rather than pay for it at each run unseen', async () => {
    expect(await plant(new Path([], false))).toMatchObject({
      kind: 'failed',
      reason: expect.stringContaining('not kept'),
    });
  });

  it.each([
    ['a route that is not there', { route: 'gone' }, CALLER, 'there is no route "gone"'],
    ['no route', { route: null }, CALLER, 'names no route'],
    ['a route that keeps nothing', { route: 'uncached' }, CALLER, 'keeps no answers'],
    ['a route that the key may not use', {}, { ...CALLER, routes: ['other'] }, 'may not use "qa"'],
  ])('asks no model for %s', async (_, seed, caller, reason) => {
    const path = new Path([]);
    expect(await plant(path, seed, caller)).toMatchObject({ kind: 'failed', reason: expect.stringContaining(reason) });
    expect(path.asked).toEqual([]);
  });

  it('leaves the seed for later when it must stop, also while it waits to try again', async () => {
    const gone = new ClientGone('Cancelled.');
    const stopping = new AbortController();
    const path = new Path([new NoModelAvailable('', { retryAfterMs: 30_000 })]);
    setTimeout(() => stopping.abort(gone), 20);
    await expect(plant(path, {}, CALLER, stopping.signal)).rejects.toBe(gone);
    const busy = new Path([new NoModelAvailable('', { retryAfterMs: 30_000 })]);
    await expect(plant(busy, {}, CALLER, never, AbortSignal.abort(gone))).rejects.toBe(gone);
    expect(busy.asked).toHaveLength(1);
    await expect(plant(new Path([new ShuttingDown('')]))).rejects.toThrow(ShuttingDown);
    const cut = new Path([new RefusedByModel(400, '{}', 'application/json')]);
    await expect(plant(cut, {}, CALLER, AbortSignal.abort(gone))).rejects.toBe(gone);
    expect(cut.asked).toHaveLength(1);
  });
});
