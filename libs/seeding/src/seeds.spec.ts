import { InvalidRequest } from '@spillway/contracts';
import { MemorySeedLines } from './seed-lines';
import { Seeds } from './seeds';

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

it('a text without a seed is refused, and nothing of it is kept', async () => {
  class WatchedLines extends MemorySeedLines {
    readonly open = new Set<string>();

    override append(id: string, lines: readonly string[]): Promise<void> {
      this.open.add(id);
      return super.append(id, lines);
    }

    override drop(id: string): Promise<void> {
      this.open.delete(id);
      return super.drop(id);
    }
  }
  const lines = new WatchedLines();
  const never = (): Promise<never> => Promise.reject(new Error('there is nothing to do'));
  const seeds = new Seeds(
    { add: never, find: never, cancel: never },
    lines,
    { run: never },
    {
      caller: () => ({ name: 'shop', priority: 'low', max_priority: 'low', routes: null, team: null }),
      route: () => undefined,
      onlyRoute: () => 'qa',
      limits: () => ({ all: 100, line: 100 }),
      concurrency: () => 1,
    },
  );
  await expect(seeds.sow({}, bytesOf('\n \n\n'))).rejects.toBeInstanceOf(InvalidRequest);
  expect([...lines.open]).toEqual([]);
});
