import { callbackTarget, hostOf } from './callback-target';

const HOSTS = ['hooks.shop.example', '127.0.0.1', '::1'];

describe('callbackTarget', () => {
  it.each([
    ['https://hooks.shop.example/results?x=1', 'hooks.shop.example'],
    ['https://HOOKS.shop.example:8443/', 'hooks.shop.example'],
    ['https://hooks.shop.example./', 'hooks.shop.example'],
    ['http://127.0.0.1:9000/x', '127.0.0.1'],
    ['http://0x7f.1/', '127.0.0.1'],
    ['http://[::1]/', '::1'],
  ])('takes %s', (url, host) => expect(hostOf(callbackTarget(url, HOSTS))).toBe(host));

  it.each([
    'https://shop.example/',
    'https://hooks.shop.example.evil.test/',
    'https://hooks.shop.example@evil.test/',
    'https://user:word@hooks.shop.example/',
    'ftp://hooks.shop.example/',
    'file:///etc/passwd',
    'http://127.0.0.2/',
    'http://localhost/',
    'hooks.shop.example',
    '',
    `https://hooks.shop.example/${'x'.repeat(3_000)}`,
  ])('refuses %s', url => {
    expect(() => callbackTarget(url, HOSTS)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  });

  it('takes none where no host is listed', () => {
    expect(() => callbackTarget('https://hooks.shop.example/', [])).toThrow('this host');
  });
});
