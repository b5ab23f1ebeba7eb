import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { InvalidFile, parseAs, projectFolder, readPool, readScenario, scenarioNames } from './read-file';
import { scenarioSchema } from './schema';

const source = readFileSync(join(projectFolder(), 'apps/lab/scenarios/sales-day.yaml'), 'utf8');
const parse = (text: string): unknown => parseAs(scenarioSchema, text, 'test.yaml');

describe('scenario files', () => {
  it('are all valid, with pools that know their kinds of questions', () => {
    for (const name of scenarioNames()) {
      const { pool, load } = readScenario(name);
      const kinds = Object.keys(readPool(pool).kinds);
      for (const { kinds: asked } of load) expect(kinds).toEqual(expect.arrayContaining(Object.values(asked)));
    }
  });

  it('tell every unknown key with its path', () => {
    const wrong = source.replace('noise: 0.2', 'noise: 0.2\nloudness: 3').replace('latency:', 'latency:');
    expect(() => parse(wrong)).toThrow(/loudness/);
    expect(() => parse(source.replace('limits: { rpm: 5000', 'limits: { rpms: 5000'))).toThrow(
      /models\.flagship\.limits/,
    );
  });

  it('name arms that are not there', () => {
    expect(() => parse(source.replace('arm: prewarmed, figure: hits.wrong', 'arm: warm, figure: hits.wrong'))).toThrow(
      /targets\.7\.arm: no arm is called warm/,
    );
  });

  it('want classes that sum to 1 and minutes that rise', () => {
    expect(() => parse(source.replace('critical: 0.25', 'critical: 0.5'))).toThrow(/load\.0\.classes: must sum to 1/);
    expect(() => parse(source.replace('[2, 800]', '[0, 800]'))).toThrow(/load\.0\.curve: the minutes must rise/);
  });

  it('are named where one is asked for that is not there', () => {
    expect(() => readScenario('monday')).toThrow(InvalidFile);
    expect(() => readScenario('../sales-day')).toThrow(/no scenario ..\/sales-day.*npm run lab -- list/);
  });
});
