import { Misuse, readCommandLine } from './command-line';

describe('the command line', () => {
  it('has defaults, which the environment and then its words override', () => {
    const plain = { file: 'a.jsonl', url: 'http://127.0.0.1:8080', adminKey: null, route: null, key: null };
    expect(readCommandLine(['a.jsonl'], {})).toEqual({ ...plain, fromLog: false, sample: null });
    const env = { SPILLWAY_URL: 'http://spillway:1/', SPILLWAY_ADMIN_KEY: 'k' };
    expect(readCommandLine(['a.jsonl'], env)).toMatchObject({ url: 'http://spillway:1', adminKey: 'k' });
    const words = ['--from-log', '--route', 'r', '-', '--key=shop', '--url', 'https://s', '--estimate', 'b.jsonl'];
    expect(readCommandLine(words, env)).toEqual({
      file: '-',
      url: 'https://s',
      adminKey: 'k',
      route: 'r',
      key: 'shop',
      fromLog: true,
      sample: 'b.jsonl',
    });
    expect(readCommandLine(['--help'], {})).toBeNull();
  });

  it.each([
    [[], 'name the file'],
    [['a', 'b'], 'not also b'],
    [['a', '--rout', 'r'], '--rout'],
    [['a', '--url', 'spillway:8080'], 'no http'],
    [['-', '--estimate', '-'], 'only one'],
  ])('%j is refused', (words, reason) => {
    expect(() => readCommandLine(words, {})).toThrow(Misuse);
    expect(() => readCommandLine(words, {})).toThrow(reason);
  });
});
