import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MAIN = join(__dirname, '../../dist/apps/lab/src/main.js');
/** Warming its caches with the answers of a model that takes its time would be most of the run. */
const QUICK_MODEL = ['first_token_ms=30', 'tokens_per_s=2000'].flatMap(setting => [
  '--what-if',
  `models.flagship.simulator.latency.${setting}`,
]);
const PICTURES = ['answered', 'rates', 'times', 'quota', 'hits', 'climber'];

interface Results {
  readonly seed: number;
  readonly model: Readonly<Record<string, number | null>>;
  readonly arms: readonly { readonly name: string; readonly figures: Readonly<Record<string, number | null>> }[];
  readonly verdicts: readonly { readonly result: string }[];
}

async function lab(args: readonly string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output += data.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

describe('npm run lab', () => {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-lab-test-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('lists its scenarios, and refuses others', async () => {
    expect((await lab(['list'])).output).toContain('sales-day');
    const { code, output } = await lab(['monday']);
    expect(code).toBe(1);
    expect(output).toContain('There is no scenario monday');
  });

  it('runs the sales day and reports what it saw', async () => {
    const run = ['sales-day', '--short', '--compress', '1000', '--seed', '3', '--out', folder];
    const { code, output } = await lab([...run, ...QUICK_MODEL, '--arm', 'sdk', '--arm', 'prewarmed']);
    expect(output).toContain('report.md');
    expect(code).toBe(0);
    const results = JSON.parse(readFileSync(join(folder, 'sales-day/results.json'), 'utf8')) as Results;
    const [sdk, prewarmed] = results.arms.map(({ figures }) => figures);
    expect(results.arms.map(({ name }) => name)).toEqual(['sdk', 'prewarmed']);
    expect(sdk?.['calls']).toBeGreaterThan(0);
    expect(prewarmed?.['calls']).toBe(sdk?.['calls']);
    // What was warmed is found, and belongs to what was asked.
    expect(prewarmed?.['hits']).toBeGreaterThan(0.3);
    expect(prewarmed?.['hits.wrong']).toBe(0);
    expect(sdk?.['hits']).toBe(0);
    expect(results.model['all.in_time']).toBe(1);
    expect(results.verdicts).toHaveLength(8);
    for (const picture of PICTURES) expect(existsSync(join(folder, `sales-day/${picture}.svg`))).toBe(true);
  }, 180_000);
});
