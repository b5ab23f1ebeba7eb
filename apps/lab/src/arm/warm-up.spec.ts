import type { Question } from '../workload/question-pool';
import { warmUp } from './warm-up';

describe('the warm-up', () => {
  const question: Question = { scope: 'product-1', intent: 'i', system: 'You sell.', text: 'Is it red?' };
  const pool = {
    *common() {
      yield question;
      yield { ...question, scope: 'product-2' };
    },
  };
  const common = { products: 1, intents: 1, texts: 1 };
  const spillway = (...statuses: ({ state: string; failed: number } | null)[]) => {
    const sown: string[] = [];
    return {
      sown,
      sow: async (_route: string, lines: string) => `seed-${sown.push(lines)}`,
      seedStatus: async () => statuses.shift() ?? null,
    };
  };

  it('seeds the common questions as they will be asked, and waits for the end', async () => {
    const target = spillway({ state: 'queued', failed: 0 }, null, { state: 'succeeded', failed: 0 });
    await warmUp(target, pool, common);
    const lines = (target.sown[0] ?? '').trimEnd().split('\n');
    expect(lines.map(line => JSON.parse(line) as unknown)).toEqual(
      ['product-1', 'product-2'].map(scope => ({
        scope,
        messages: [
          { role: 'system', content: 'You sell.' },
          { role: 'user', content: 'Is it red?' },
        ],
      })),
    );
  });

  it.each([
    ['succeeded', 1],
    ['failed', 0],
  ])('does not begin a night half warm: %s, %d failed', async (state, failed) => {
    await expect(warmUp(spillway({ state, failed }), pool, common)).rejects.toThrow(`${failed} failed`);
  });
});
