import { checkedLookup, isPublicAddress } from './public-addresses';

const look = (host: string, isAllowed: (address: string) => boolean, all: boolean): Promise<unknown> =>
  new Promise((resolve, reject) => {
    checkedLookup(isAllowed)(host, { all }, (error, found) => (error === null ? resolve(found) : reject(error)));
  });

describe('isPublicAddress', () => {
  it.each(['1.1.1.1', '93.184.216.34', '172.15.0.1', '172.32.0.1', '2606:4700:4700::1111', '2a00:1450:4001::1'])(
    'yes: %s',
    address => expect(isPublicAddress(address)).toBe(true),
  );

  it.each([
    '127.0.0.1',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '224.0.0.1',
    '255.255.255.255',
    '198.18.0.1',
    '::',
    '::1',
    'fe80::1',
    'fd00::1',
    'ff02::1',
    '::ffff:127.0.0.1',
    '::ffff:a00:1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    '2001::1',
    '2001:db8::1',
    'fe80::1%eth0',
    'localhost',
    '',
  ])('no: %s', address => expect(isPublicAddress(address)).toBe(false));
});

describe('checkedLookup', () => {
  it('gives addresses that are allowed, in either form', async () => {
    expect(await look('localhost', () => true, false)).toMatch(/^(127\.0\.0\.1|::1)$/);
    expect(await look('localhost', () => true, true)).toContainEqual(
      expect.objectContaining({ family: expect.any(Number) }),
    );
  });

  it('gives none where one is not', async () => {
    await expect(look('localhost', isPublicAddress, true)).rejects.toThrow('may not be sent');
    await expect(look('localhost', isPublicAddress, false)).rejects.toThrow('may not be sent');
  });
});
