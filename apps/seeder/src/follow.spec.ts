import type { SeedStatus } from '@spillway/seeding';
import { follow } from './follow';
import { Refusal } from './spillway';
import { progressLine, seedReport, surveyReport } from './words';

const STATUS: SeedStatus = {
  id: 'seed_a_200_1',
  total: 200,
  done: 50,
  hits: 10,
  generated: 38,
  stored: 0,
  failed: 2,
  tokens: 900,
  state: 'running',
  failures: [{ line: 7, reason: 'is no valid JSON' }],
  error: null,
};

describe('following a seed', () => {
  const followed = async (answers: (SeedStatus | Error)[], isTTY = false): Promise<readonly [SeedStatus, string]> => {
    let written = '';
    const status = async (): Promise<SeedStatus> => {
      const answer = answers.shift();
      if (answer === undefined || answer instanceof Error) throw answer ?? new Error('asked too often');
      return answer;
    };
    const end = await follow({ status }, 'seed_a_200_1', { isTTY, write: text => (written += text) });
    return [end, written];
  };

  it('shows its way to the end, also through a restart', async () => {
    const ended: SeedStatus = { ...STATUS, done: 200, generated: 188, state: 'succeeded' };
    const [end, written] = await followed([STATUS, new Refusal('no answer', null), ended]);
    expect(end).toBe(ended);
    expect(written.split('\n')).toHaveLength(3);
  });

  it('writes over its line on a terminal', async () => {
    const [, written] = await followed([STATUS, { ...STATUS, state: 'succeeded' }], true);
    expect(written.match(/\r/g)).toHaveLength(2);
    expect(written.match(/\n/g)).toHaveLength(1);
  });

  it('says so when Spillway has forgotten it', async () => {
    await expect(followed([STATUS, new Refusal('', 404)])).rejects.toThrow('Seed again');
  });
});

describe('words', () => {
  it('tell how far it is, and how long it will take', () => {
    expect(progressLine(STATUS, 2)).toBe(
      `${'█'.repeat(6)}${'░'.repeat(18)}  25 %  50/200  there 10  generated 38  failed 2  2.0/s  ETA 1m 15s`,
    );
    expect(progressLine({ ...STATUS, total: 0, done: 0 }, 0)).toContain('100 %');
  });

  it('name what failed by its line', () => {
    expect(seedReport({ ...STATUS, state: 'succeeded' })).toContain('    line 7: is no valid JSON\n    and 1 more');
  });

  it('tell the share of a sample, of the lines that could be read', () => {
    const survey = { total: 11, exact: 4, canonical: 1, semantic: 0, none: 5, failed: 1, failures: [] };
    expect(surveyReport(survey)).toMatch(/of 10 questions .* 50\.0 %/);
  });
});
