import { ask, askForStream, callerOf } from '../support/caller';
import { startInstallation, type Installation } from '../support/installation';
import { questionIn } from '../support/model-requests';
import { eventually } from '../support/operator';
import { fileOf, runSeeder, textOf } from '../support/seeder';
import type { SpillwayProcess } from '../support/spillway';

const CONFIGURATION = {
  models: { m: { provider: 'simulator' } },
  routes: { assistant: { chain: ['m'] } },
};
const PRODUCTS = Array.from({ length: 40 }, (_, index) => `sku-${index}`);
const QUESTIONS = [
  'Is it waterproof?',
  'How heavy is it?',
  'Does it float?',
  'Which colours exist?',
  'Can it be repaired?',
];
const SEEDS = PRODUCTS.flatMap(scope => QUESTIONS.map(question => ({ scope, question })));

interface Status {
  readonly state: string;
  readonly total: number;
  readonly done: number;
  readonly generated: number;
}

describe('seeding a running Spillway', () => {
  let installation: Installation;

  beforeAll(async () => {
    installation = await startInstallation();
  });

  afterEach(() => installation.clear());
  afterAll(() => installation.stop());

  const start = (more: object = {}): Promise<SpillwayProcess> =>
    installation.start('all', { ...CONFIGURATION, ...more });
  const asked = (): string[] => installation.simulator.requests('m').map(({ body }) => questionIn(body));
  const sow = async ({ url }: SpillwayProcess, lines: readonly object[]): Promise<string> => {
    const response = await fetch(`${url}/admin/seed`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
      body: textOf(lines),
    });
    expect(response.status).toBe(202);
    return ((await response.json()) as { id: string }).id;
  };
  const statusOf = async ({ url }: SpillwayProcess, id: string): Promise<Status> =>
    (await (await fetch(`${url}/admin/seed/${id}`)).json()) as Status;

  it('answers what was seeded, for every product its own, without a model; a second run generates nothing', async () => {
    const spillway = await start();
    const first = await runSeeder(spillway.url, [fileOf(SEEDS)]);
    expect(first.output).toMatch(/succeeded: 200 of 200 lines done\n +there already +0\n +generated +200/);
    expect([first.code, asked().length]).toEqual([0, 200]);

    for (const scope of ['sku-0', 'sku-39']) {
      const headers = { 'x-spillway-scope': scope };
      const { headers: answered } = await ask(callerOf(spillway.url), 'assistant', 'How heavy is it?', { headers });
      expect([answered.get('x-spillway-cache'), answered.get('x-spillway-cache-tier')]).toEqual(['HIT', 'exact']);
    }
    const other = await ask(callerOf(spillway.url), 'assistant', 'How heavy is it?');
    expect(other.headers.get('x-spillway-cache')).toBe('MISS');

    const second = await runSeeder(spillway.url, ['-', '--route', 'assistant'], textOf(SEEDS));
    expect(second.output).toMatch(/there already +200\n +generated +0/);
    expect([second.code, asked().length]).toEqual([0, 201]);
  });

  it('serves ready answers as they are, whole and streamed, and names bad lines without losing the others', async () => {
    const spillway = await start();
    const { code, output } = await runSeeder(spillway.url, [
      fileOf([
        { question: 'Do you ship to Norway?', answer: 'Yes, within a week.' },
        '{"question":',
        '',
        { question: 'Do you ship to Chile?', route: 'gone' },
        { question: 'Do you ship to Peru?' },
      ]),
      '--estimate',
      fileOf([{ question: 'Do you ship to Peru?' }]),
    ]);
    expect(code).toBe(1);
    expect(output).toContain('line 2: is no valid JSON');
    expect(output).toContain('line 4: there is no route "gone"');
    expect(output).toMatch(/generated +1 .*\n +stored +1\n +failed +2/);
    expect(output).toContain('of 1 questions of the sample 100.0 % are answered');
    expect(asked()).toEqual(['Do you ship to Peru?']);

    const caller = callerOf(spillway.url);
    const whole = await ask(caller, 'assistant', 'Do you ship to Norway?');
    const streamed = await askForStream(caller, 'assistant', 'Do you ship to Norway?');
    for (const { text, headers } of [whole, streamed]) {
      expect([text, headers.get('x-spillway-cache')]).toEqual(['Yes, within a week.', 'HIT']);
    }
    expect(whole.completion.usage).toMatchObject({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 });
    const otherWords = await ask(caller, 'assistant', 'do you ship to norway, please');
    expect(otherWords.headers.get('x-spillway-cache-tier')).toBe('canonical');
    expect(asked()).toHaveLength(1);
  });

  it("seeds from a day's log, and tells which share of another day would be answered", async () => {
    const spillway = await start();
    const request = (content: string): object => ({ model: 'assistant', messages: [{ role: 'user', content }] });
    const log = [
      request('Is it waterproof?'),
      { body: request('is it waterproof, please') },
      request('Does it float?'),
      request('Where is my order?'),
    ];
    const sample = [request('Is it waterproof?'), request('does it float'), request('Which colours exist?'), 'oops'];
    const { code, output } = await runSeeder(spillway.url, ['--from-log', fileOf(log), '--estimate', fileOf(sample)]);
    expect(code).toBe(0);
    expect(output).toContain('4 questions in the log, 2 different ones to seed\n  left out: 1 personal\n');
    expect(output).toContain('of 3 questions of the sample 66.7 % are answered from the caches');
    expect(output).toMatch(/exact +33\.3 %.*\n +canonical +33\.3 %.*\n +semantic +0\.0 %.*\n +a model +33\.3 %/);
    expect(asked()).toEqual(['Is it waterproof?', 'Does it float?']);
  });

  it('fails with the reason where it cannot seed', async () => {
    const spillway = await start();
    const file = fileOf(SEEDS);
    const failing = [
      [[file, '--key', 'gone'], 'no key named "gone"'],
      [[file, '--url', 'http://127.0.0.1:1'], 'is Spillway running there?'],
      [['/no/such/file'], 'no such file'],
      [[], 'Usage'],
    ] as const;
    const runs = await Promise.all(failing.map(([words]) => runSeeder(spillway.url, words)));
    for (const [index, [, reason]] of failing.entries()) {
      expect(runs[index]).toEqual({ code: 1, output: expect.stringContaining(reason) as string });
    }
  });

  it('is taken by a gateway and done by a worker', async () => {
    const [gateway] = await Promise.all([
      installation.start('gateway', CONFIGURATION),
      installation.start('worker', CONFIGURATION, { PORT: '0' }),
    ]);
    const { code, output } = await runSeeder(gateway.url, [fileOf(SEEDS.slice(0, 20))]);
    expect(output).toMatch(/generated +20/);
    const { headers } = await ask(callerOf(gateway.url), 'assistant', 'Does it float?', {
      headers: { 'x-spillway-scope': 'sku-0' },
    });
    expect([code, headers.get('x-spillway-cache')]).toEqual([0, 'HIT']);
  });

  it('lets live calls go first', async () => {
    const spillway = await start({ models: { m: { provider: 'simulator', limits: { inflight: 2 }, headroom: 0 } } });
    installation.simulator.configure('m', { latency: { first_token_ms: 60 } });
    const id = await sow(spillway, SEEDS);
    await eventually(() => asked().length > 4);
    const live = Array.from({ length: 30 }, (_, index) => `live ${index}`);
    const began = asked().length;
    await Promise.all(live.map(question => ask(callerOf(spillway.url), 'assistant', question)));
    const order = asked().slice(began);
    const ended = order.findLastIndex(question => question.startsWith('live'));
    // Those that had their turn or waited for it when the live calls came.
    expect(ended).toBeLessThan(live.length + 8);
    expect((await statusOf(spillway, id)).state).toBe('running');
  });
});
