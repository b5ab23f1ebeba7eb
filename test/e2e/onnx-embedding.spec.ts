import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ask, callerOf } from '../support/caller';
import { startInstallation, type Installation } from '../support/installation';
import { eventually } from '../support/operator';
import type { SpillwayProcess } from '../support/spillway';
import { writeTinyModel } from '../support/tiny-onnx-model';
import { transformersModules } from '../support/transformers';

const ASKED = 'Which phones survive water?';
const REWORDED = 'Which handsets survive moisture?';
const UNRELATED = 'Which laptops are silent?';
const TRAP = 'Which phones do not survive water?';

const PHONE = [1, 0, 0, 0];
const WATER = [0, 1, 0, 0];
const WORDS = {
  phones: PHONE,
  handsets: PHONE,
  water: WATER,
  moisture: WATER,
  laptops: [0, 0, 1, 0],
  kettle: [0.5, 0.5, 0.7, 0],
  museums: [0.5, -0.5, 0, 0.7],
};

describe('a model in the process', () => {
  let installation: Installation;
  let folder: string;
  let modules: string;

  beforeAll(async () => {
    [installation, modules] = await Promise.all([startInstallation(), transformersModules()]);
    folder = mkdtempSync(join(tmpdir(), 'spillway-model-'));
    writeTinyModel(folder, WORDS);
  }, 600_000);
  afterEach(() => installation.clear());
  afterAll(async () => {
    await installation.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const configuration = (model: string): object => ({
    models: { m: { provider: 'simulator' } },
    routes: { assistant: { chain: ['m'] } },
    embedding: { provider: 'onnx', model },
  });
  const startWith = (model: string): Promise<SpillwayProcess> =>
    installation.start('all', configuration(model), { NODE_PATH: modules });
  const partsOf = async ({ url }: SpillwayProcess): Promise<unknown> =>
    ((await (await fetch(`${url}/readyz`)).json()) as { parts: object }).parts;

  it('finds a question in other words, which no word list knows, and no other one', async () => {
    const spillway = await startWith(folder);
    const caller = callerOf(spillway.url);
    const cacheOf = async (question: string): Promise<string | null> =>
      (await ask(caller, 'assistant', question)).headers.get('x-spillway-cache');
    // Until the model is loaded nothing is kept.
    await eventually(async () => {
      await ask(caller, 'assistant', ASKED, { headers: { 'cache-control': 'no-cache' } });
      const found = ask(caller, 'assistant', REWORDED, { headers: { 'cache-control': 'only-if-cached' } });
      return found.then(
        ({ headers }) => headers.get('x-spillway-cache') === 'SEMANTIC_HIT',
        () => false,
      );
    });
    expect(await cacheOf(UNRELATED)).toBe('MISS');
    expect(await cacheOf(TRAP)).toBe('MISS');
    expect(await partsOf(spillway)).toMatchObject({ embedder: 'ok' });
    expect(await spillway.stop()).toBe(0);
  });

  it('costs a start and a call nothing while it cannot be loaded, and the log says why', async () => {
    const empty = mkdtempSync(join(tmpdir(), 'spillway-model-'));
    const spillway = await startWith(empty);
    await ask(callerOf(spillway.url), 'assistant', ASKED);
    const again = await ask(callerOf(spillway.url), 'assistant', ASKED);
    expect(again.headers.get('x-spillway-cache')).toBe('HIT');
    await eventually(async () => ((await partsOf(spillway)) as { embedder: string }).embedder === 'lost');
    await eventually(() => spillway.logLines().some(({ reason }) => String(reason).includes('config.json')));
    rmSync(empty, { recursive: true });
  });
});
