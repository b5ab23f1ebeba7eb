import { kept } from './kept-tick';

it('keeps what Node makes of a tick', async () => {
  await new Promise(resolve => setImmediate(resolve));
  expect([...kept]).toEqual([expect.objectContaining({ callback: expect.any(Function) as unknown, args: undefined })]);
});
