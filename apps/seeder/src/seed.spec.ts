import { Readable } from 'node:stream';
import { seed } from './seed';

const COMMAND = { url: 'http://127.0.0.1:1', adminKey: null, route: null, key: null, fromLog: false, sample: null };
const SCREEN = { isTTY: false, write: () => true };

it('A file that is not there is what is said to be wrong, not Spillway', async () => {
  const outcome = seed({ ...COMMAND, file: '/no/such/questions.jsonl' }, Readable.from([]), SCREEN);
  await expect(outcome).rejects.toThrow(/^ENOENT: no such file .*questions\.jsonl'$/);
});
