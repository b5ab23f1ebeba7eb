import { Registry } from 'prom-client';
import { Tally } from './tally';

describe('Tally', () => {
  const registry = new Registry();
  const tally = new Tally({ name: 'calls_total', help: 'Calls', labelNames: ['model', 'status'], registry });
  const lines = async (): Promise<string[]> =>
    (await registry.metrics()).split('\n').filter(line => line.startsWith('calls_total'));

  it('shows sums by labels, and goes on from there', async () => {
    tally.add(1, 'one', '200');
    tally.add(2, 'one', '200');
    tally.add(0, 'one', '429');
    expect(await lines()).toEqual([
      'calls_total{model="one",status="200"} 3',
      'calls_total{model="one",status="429"} 0',
    ]);
    tally.add(4, 'one', '200');
    expect(await lines()).toContain('calls_total{model="one",status="200"} 7');
    expect(await lines()).toContain('calls_total{model="one",status="200"} 7');
  });

  it('leaves out what a counter cannot grow by', async () => {
    const before = await lines();
    for (const amount of [-1, NaN, Infinity]) tally.add(amount, 'one', '200');
    expect(await lines()).toEqual(before);
  });
});
