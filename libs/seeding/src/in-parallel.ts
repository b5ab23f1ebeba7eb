/**
 * Works on items, `concurrency` at a time, in order of their beginning.
 * @throws what the first failed work throws, after what was under way has ended; nothing new is begun then.
 */
export async function inParallel<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  concurrency: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const source = shared(items);
  let stopped = false;
  const worker = async (): Promise<void> => {
    try {
      for await (const item of source) {
        await work(item);
        if (stopped) return;
      }
    } catch (error) {
      stopped = true;
      throw error;
    }
  };
  const results = await Promise.allSettled(Array.from({ length: concurrency }, worker));
  const failure = results.find(result => result.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
}

/** One source for several readers: leaving it ends only one of them. */
function shared<Item>(items: Iterable<Item> | AsyncIterable<Item>): AsyncIterable<Item> {
  const source = (async function* () {
    yield* items;
  })();
  return { [Symbol.asyncIterator]: () => ({ next: () => source.next() }) };
}
