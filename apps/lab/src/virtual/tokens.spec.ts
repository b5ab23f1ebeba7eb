import { loadSettings, readEnvironment } from '@spillway/config';
import { seededRandom } from '../../../simulator/src/random';
import type { TokenSpread } from '../../../simulator/src/settings';
import { Workplace } from '../processes/program';
import { ROUTE } from '../scenario/settings';
import { VirtualCache } from './virtual-cache';
import { VirtualProvider } from './virtual-provider';
import { VirtualSpillway } from './virtual-spillway';
import { VirtualTime } from './virtual-time';

const TPM = 150_000;
const CALLERS = 600;
const MINUTE_MS = 60_000;
const MINUTES = 3;

interface Outcome {
  /** Share of the calls that the provider refused. */
  readonly refused: number;
  /** Of the limit, on average over the trailing minutes after the first. */
  readonly used: number;
}

/** So many callers who ask again as soon as they are answered, of a model with a limit on tokens. */
function underBacklog(seed: number, latency: object, tokens: TokenSpread): Outcome {
  const time = new VirtualTime();
  const limits = { tpm: TPM };
  const model = { limits, latency, answer: { mode: 'lengths' as const, tokens }, seed };
  const provider = new VirtualProvider({ m: model }, time);
  const spillway = new VirtualSpillway(time, provider, settingsOf(limits), new VirtualCache(0, seededRandom(seed)));
  const end = time.now() + MINUTES * MINUTE_MS;
  let asked = 0;
  const ask = (): void => {
    if (time.now() >= end) return;
    const question = { intent: String(asked), text: `Where is my order ${asked++}?`, system: 'Be brief.', scope: '' };
    spillway.call({ ms: 0, load: 'all', key: null, priority: 'normal', question }, () => time.after(100, ask));
  };
  for (let caller = 0; caller < CALLERS; caller++) time.after(caller, ask);
  const arrived: number[] = [];
  for (let ms = 0; ms < MINUTES * MINUTE_MS; ms += 100) {
    time.after(ms, () =>
      arrived.push(Number(provider.stats()['m']?.tokens_in) + Number(provider.stats()['m']?.tokens_out)),
    );
  }
  time.run();
  const stats = provider.stats()['m'];
  const refused = stats?.refused.tpm ?? NaN;
  const fills = arrived.slice(MINUTE_MS / 100).map((total, index) => (total - (arrived[index] ?? 0)) / TPM);
  return {
    refused: refused / (refused + (stats?.accepted ?? NaN)),
    used: fills.reduce((sum, fill) => sum + fill, 0) / fills.length,
  };
}

function settingsOf(limits: object): ReturnType<typeof loadSettings> {
  const workplace = new Workplace();
  const all = { share: 1, min_share: 0, queue_limit: 20_000, max_wait_ms: 600_000 };
  try {
    const file = workplace.write('spillway.yaml', {
      providers: { simulator: { base_url: 'http://127.0.0.1:9/v1' } },
      // Without what refusals teach: what is reserved is measured alone.
      models: { m: { provider: 'simulator', headroom: 0, timeout_ms: 600_000, limits, climb: { mode: 'off' } } },
      routes: { [ROUTE]: { chain: ['m'], cache: { exact: false, semantic: false } } },
      priorities: { critical: all, normal: all, low: all },
    });
    return loadSettings(readEnvironment({ SPILLWAY_CONFIG: file }));
  } finally {
    workplace.remove();
  }
}

const WIDE = { min: 5, max: 4000, lognormal: { median: 200, sigma: 0.9 } };
const FAST = { first_token_ms: 100, tokens_per_s: 500 };
const SLOW = { first_token_ms: 500, tokens_per_s: 50 };

describe('a limit on tokens, while nobody knows how long an answer will be', () => {
  it.each([
    ['widely spread, at a fast model', FAST, WIDE, 0.9],
    ['widely spread, at a slow model', SLOW, WIDE, 0.8],
    ['all alike', FAST, 300, 0.95],
    ['all alike, at a slow model', SLOW, 300, 0.95],
  ])('is used, and hardly ever exceeded: answers %s', (_, latency, tokens, used) => {
    const runs = [1, 2].map(seed => underBacklog(seed, latency, tokens));
    const mean = (read: (run: Outcome) => number): number =>
      runs.reduce((sum, run) => sum + read(run), 0) / runs.length;
    expect(mean(run => run.refused)).toBeLessThanOrEqual(0.001);
    expect(mean(run => run.used)).toBeGreaterThanOrEqual(used);
  });
});
