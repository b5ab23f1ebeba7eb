import { Histogram, Registry } from 'prom-client';
import { Distribution } from './distribution';

const SHAPE = { name: 'waits_seconds', help: 'Waits', labelNames: ['class', 'end'], buckets: [0.1, 1, 10] };

function linesOf(text: string): readonly string[] {
  const withSortedLabels = (line: string): string =>
    line.replace(/\{(.*)\}/, (_, labels: string) => `{${labels.split(',').sort().join()}}`);
  return text.trim().split('\n').map(withSortedLabels).sort();
}

describe('a distribution', () => {
  it('is written as a histogram of the library is, bounds included', async () => {
    const [ours, theirs] = [new Registry(), new Registry()];
    const distribution = new Distribution({ ...SHAPE, registry: ours });
    const histogram = new Histogram({ ...SHAPE, registers: [theirs] });
    for (const [value, name, end] of [
      [0.1, 'low', ''],
      [0.5, 'low', ''],
      [11, 'low', ''],
      [0, 'critical', 'late'],
      [10, 'critical', 'late'],
    ] as const) {
      distribution.add(value, name, end);
      histogram.observe({ class: name, end }, value);
    }
    expect(linesOf(await ours.metrics())).toEqual(linesOf(await theirs.metrics()));
    expect(linesOf(await ours.metrics())).toContain('waits_seconds_count{class="low",end=""} 3');
  });

  it('leaves out what is no number', async () => {
    const registry = new Registry();
    const distribution = new Distribution({ ...SHAPE, registry });
    distribution.add(NaN, 'low', '');
    distribution.add(Infinity, 'low', '');
    expect(await registry.metrics()).not.toContain('low');
  });
});
