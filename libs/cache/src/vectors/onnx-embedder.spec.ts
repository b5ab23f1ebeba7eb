import { EventEmitter } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { MessageChannel, Worker } from 'node:worker_threads';
import { CapturedLog } from '../../../../test/support/captured-log';
import { eventually } from '../../../../test/support/operator';
import { writeTinyModel } from '../../../../test/support/tiny-onnx-model';
import { transformersModules } from '../../../../test/support/transformers';
import { HelperUnavailable } from './helper-guard';
import { OnnxEmbedder, type OnnxLimits } from './onnx-embedder';
import { serveModel } from './serve-model';
import { modelSource, type FeatureExtractor, type Tensor } from './transformers-package';

let log: CapturedLog;
const made: OnnxEmbedder[] = [];

beforeEach(() => {
  log = new CapturedLog();
});
afterEach(() => {
  for (const embedder of made.splice(0)) embedder.onApplicationShutdown();
});

function started(model: string, startWorker: () => Worker, limits: OnnxLimits = {}): OnnxEmbedder {
  const embedder = new OnnxEmbedder(model, startWorker, log, { deadlineMs: 5000, probeEveryMs: 20, ...limits });
  made.push(embedder);
  embedder.onModuleInit();
  return embedder;
}

/** Once the model is loaded. */
async function loaded(embedder: OnnxEmbedder): Promise<OnnxEmbedder> {
  await eventually(async () => (await embedder.embed(['ready?']).catch(() => [])).length === 1);
  return embedder;
}

/** The far side in this thread, so that a test can say what the model does. */
class NearWorker extends EventEmitter {
  private readonly channel = new MessageChannel();

  constructor(load: () => Promise<FeatureExtractor>) {
    super();
    this.channel.port1.on('message', reply => this.emit('message', reply));
    serveModel(this.channel.port2, load).catch((error: unknown) => this.emit('error', error));
  }

  postMessage(texts: readonly string[]): void {
    this.channel.port1.postMessage(texts);
  }

  unref(): void {
    this.channel.port1.unref();
  }

  async terminate(): Promise<number> {
    this.channel.port1.close();
    this.emit('exit', 1);
    return 1;
  }
}

const near = (load: () => Promise<FeatureExtractor>): Worker => new NearWorker(load) as unknown as Worker;

const answers = (tensor: (texts: readonly string[]) => Tensor, asked: string[][] = []): (() => Worker) =>
  function startWorker() {
    return near(async () => async texts => {
      asked.push([...texts]);
      return tensor(texts);
    });
  };

/** Vectors of length 2 that point along one of `dimension` axes. */
function axes(texts: readonly string[], dimension = 4): Tensor {
  const data = texts.flatMap(text => Array.from({ length: dimension }, (_, at) => (at === text.length % 4 ? 2 : 0)));
  return { data, dims: [texts.length, dimension] };
}

describe('OnnxEmbedder', () => {
  it('gives vectors of length 1 of texts in small letters and one width, without spaces around them', async () => {
    const asked: string[][] = [];
    const embedder = await loaded(started('a/b', answers(axes, asked)));
    const [vector] = await embedder.embed(['  Is it ＷATERPROOF?\n']);
    expect(asked.at(-1)).toEqual(['is it waterproof?']);
    expect(vector).toEqual(Float32Array.of(0, 1, 0, 0));
    expect([embedder.id, embedder.dimension]).toEqual(['onnx-1:a/b', 4]);
  });

  it.each(['Xenova/multilingual-e5-small', 'e5-base', '/models/e5-small'])(
    'tells %s what its texts are',
    async model => {
      const asked: string[][] = [];
      const embedder = await loaded(started(model, answers(axes, asked)));
      await embedder.embed(['Hello']);
      expect(asked.at(-1)).toEqual(['query: hello']);
      await expect(embedder.embed([' \n'])).rejects.toThrow(HelperUnavailable);
    },
  );

  it('reads the beginning of a long text, and never half a character', async () => {
    const asked: string[][] = [];
    const embedder = await loaded(started('a/b', answers(axes, asked)));
    await embedder.embed([`${'x'.repeat(599)}🚀${'y'.repeat(100_000)}`]);
    expect(asked.at(-1)).toEqual(['x'.repeat(599)]);
  });

  it('asks for what comes at the same time together, one batch at a time, and for each text once', async () => {
    let running = 0;
    let most = 0;
    const asked: string[][] = [];
    const extract: FeatureExtractor = async texts => {
      asked.push([...texts]);
      most = Math.max(most, ++running);
      await pause(5);
      running -= 1;
      return axes(texts);
    };
    const embedder = await loaded(started('a/b', () => near(async () => extract)));
    asked.length = 0;
    const texts = Array.from({ length: 20 }, (_, index) => 'x'.repeat(index + 1));
    const vectors = await Promise.all([...texts, ...texts].map(text => embedder.embed([text])));
    expect(asked.map(batch => batch.length)).toEqual([8, 8, 4]);
    expect(most).toBe(1);
    const expected = texts.map(text => axes([text]).data);
    const places = vectors.map(([vector]) => vector?.indexOf(1));
    expect(places).toEqual([...expected, ...expected].map(data => Array.from(data).indexOf(2)));
    await embedder.embed(texts);
    expect(asked).toHaveLength(3);
  });

  it.each<[string, (texts: readonly string[]) => Tensor]>([
    ['too few rows', () => axes(['a'])],
    ['a number for each word', () => ({ data: Array.from({ length: 16 }, () => 1), dims: [2, 2, 4] })],
    ['fewer numbers than it says', texts => ({ ...axes(texts), data: [1, 2] })],
    ['no direction', texts => ({ data: [1, 0, 0, 0], dims: [texts.length, 2] })],
    ['no number', texts => ({ data: [1, 0, Number.NaN, 1], dims: [texts.length, 2] })],
  ])('is unavailable, not wrong: %s', async (_, tensor) => {
    let isOdd = false;
    const embedder = await loaded(
      started(
        'a/b',
        answers(texts => (isOdd ? tensor(texts) : axes(texts))),
      ),
    );
    isOdd = true;
    await expect(embedder.embed(['a', 'bb'])).rejects.toThrow(HelperUnavailable);
  });

  it('refuses vectors of another dimension than before', async () => {
    const embedder = await loaded(
      started(
        'a/b',
        answers(texts => axes(texts, texts[0] === 'long' ? 6 : 4)),
      ),
    );
    await expect(embedder.embed(['long'])).rejects.toThrow('vectors of 6 numbers after 4');
    expect(embedder.dimension).toBe(4);
  });

  it('does not tell what a model that fails was asked', async () => {
    let fails = false;
    const extract: FeatureExtractor = async texts => {
      if (fails) throw new RangeError(`cannot read ${texts[0]}`);
      return axes(texts);
    };
    const embedder = await loaded(started('a/b', () => near(async () => extract)));
    fails = true;
    const failure = await embedder.embed(['my secret']).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(HelperUnavailable);
    expect(String(failure)).toContain('RangeError');
    expect(String(failure)).not.toContain('secret');
  });

  it('is lost until the model is loaded, and starts it again where that failed', async () => {
    let tries = 0;
    const load = async (): Promise<FeatureExtractor> => {
      if (++tries < 3) throw new Error('there is no network');
      return async texts => axes(texts);
    };
    const embedder = started('a/b', () => near(load), { restartMs: 30 });
    const before = performance.now();
    await expect(embedder.embed(['a'])).rejects.toThrow(HelperUnavailable);
    expect(performance.now() - before).toBeLessThan(4000);
    await eventually(() => embedder.guard.state === 'lost');
    await eventually(() => embedder.guard.state === 'ok');
    expect(await embedder.embed(['a'])).toHaveLength(1);
    expect(tries).toBe(3);
    const failures = log.lines.filter(({ fields }) => fields['model'] === 'a/b');
    expect(failures.map(({ fields }) => fields['reason'])).toEqual(['there is no network', 'there is no network']);
  });

  it('starts another thread when one dies, and answers nobody from the dead one', async () => {
    const workers: NearWorker[] = [];
    let hangs = false;
    const extract: FeatureExtractor = texts => (hangs ? new Promise(() => null) : Promise.resolve(axes(texts)));
    const start = (): Worker => {
      workers.push(new NearWorker(async () => extract));
      return workers.at(-1) as unknown as Worker;
    };
    const embedder = await loaded(started('a/b', start, { restartMs: 10 }));
    hangs = true;
    const asked = embedder.embed(['a']).catch(String);
    await pause(30);
    await workers[0]?.terminate();
    expect(await asked).toContain('the thread of the model ended');
    hangs = false;
    await eventually(async () => (await embedder.embed(['b']).catch(() => [])).length === 1);
    expect(workers).toHaveLength(2);
  });

  it('gives up what takes too long, and spares the model what nobody waits for any more', async () => {
    const asked: string[] = [];
    const extract: FeatureExtractor = async texts => {
      asked.push(...texts);
      if (texts.includes('slow')) await pause(200);
      return axes(texts);
    };
    const embedder = await loaded(started('a/b', () => near(async () => extract), { deadlineMs: 80, failures: 100 }));
    const slow = embedder.embed(['slow']).catch(String);
    await pause(20);
    await expect(embedder.embed(['behind'])).rejects.toThrow('too late');
    expect(await slow).toContain('too late');
    await eventually(async () => (await embedder.embed(['next']).catch(() => [])).length === 1);
    expect(asked).not.toContain('behind');
  });
});

describe('OnnxEmbedder, with the real package and a model on disk', () => {
  let transformers: string;
  let folder: string;

  beforeAll(async () => {
    transformers = createRequire(join(await transformersModules(), 'x.js')).resolve('@huggingface/transformers');
    folder = mkdtempSync(join(tmpdir(), 'spillway-model-'));
  }, 600_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const worker = (model: string): Worker =>
    new Worker(require.resolve('./onnx-model'), {
      workerData: { source: modelSource(model), transformers },
      execArgv: ['-r', join(__dirname, '../../../../test/support/run-typescript.cjs')],
    });

  it('embeds texts, long ones beside short ones, alone or together', async () => {
    const model = join(folder, 'model');
    writeTinyModel(model, { phone: [1, 0, 0], water: [0, 1, 0], 手: [0, 1, 0] });
    const embedder = await loaded(started(model, () => worker(model)));
    const texts = ['Phone', 'water phone', `phone ${'water '.repeat(500)}`, '手'];
    const together = await embedder.embed(texts);
    expect(together.map(vector => Array.from(vector, value => Number(value.toFixed(2))))).toEqual([
      [1, 0, 0],
      [0.71, 0.71, 0],
      [0.01, 1, 0],
      [0, 1, 0],
    ]);
    const alone = await loaded(started(model, () => worker(model)));
    for (const [index, text] of texts.entries()) {
      const [vector] = await alone.embed([text]);
      expect(vector).toHaveLength(3);
      vector?.forEach((value, at) => expect(value).toBeCloseTo(together[index]?.[at] ?? 2, 5));
    }
  });

  it('holds nothing up while it loads', async () => {
    const model = join(folder, 'model');
    writeTinyModel(model, { phone: [1, 0] });
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 1);
    await loaded(started(model, () => worker(model)));
    clearInterval(timer);
    expect(turns).toBeGreaterThan(20);
  });

  it('says why a model cannot be loaded', async () => {
    const broken = join(folder, 'broken');
    mkdirSync(broken);
    writeFileSync(join(broken, 'config.json'), '{"model_type":"bert"}');
    const embedder = started(broken, () => worker(broken));
    await eventually(() => log.lines.some(({ fields }) => fields['model'] === broken));
    const line = log.lines.find(({ fields }) => fields['model'] === broken);
    expect(line).toMatchObject({ level: 'warn', fields: { part: 'embedder' } });
    expect(String(line?.fields['reason'])).toContain('onnx/model.onnx');
    await expect(embedder.embed(['a'])).rejects.toThrow(HelperUnavailable);
  });
});
