import { InvalidApiKey, NotAllowed } from '@spillway/contracts';
import { configStore } from '../../../test/support/settings';
import { Gatekeeper } from './gatekeeper';

const base = {
  providers: { local: { base_url: 'http://127.0.0.1:9/v1' } },
  models: { best: { provider: 'local' } },
  routes: { assistant: { chain: ['best'] } },
};
const keyed = {
  ...base,
  keys: [{ name: 'shop', key: 'sk-shop-key', max_priority: 'normal', routes: ['assistant'], team: 'sales' }],
};

describe('callers', () => {
  const gate = new Gatekeeper(configStore(keyed));
  const from = (authorization?: string) => gate.identify({ authorization, remoteAddress: '127.0.0.1' });

  it('are known by their key', () => {
    expect(from('Bearer sk-shop-key')).toEqual({
      name: 'shop',
      priority: 'normal',
      max_priority: 'normal',
      routes: ['assistant'],
      team: 'sales',
    });
  });

  it.each([undefined, '', 'Bearer', 'Bearer ', 'Bearer sk-other', 'sk-shop-key', 'Basic sk-shop-key'])(
    'are refused with %p',
    authorization => {
      expect(() => from(authorization)).toThrow(InvalidApiKey);
    },
  );

  it('can be named by those who act for them', () => {
    expect(gate.named('shop')).toEqual(from('Bearer sk-shop-key'));
    expect(gate.named()?.name).toBe('shop');
    expect(gate.named('anonymous')).toBeNull();
    const open = new Gatekeeper(configStore(base));
    expect([open.named()?.name, open.named('anonymous')?.name]).toEqual(['anonymous', 'anonymous']);
    expect(open.named('shop')).toBeNull();
  });

  it.each(['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1'])(
    'need no key at %s when none is configured',
    address => {
      const open = new Gatekeeper(configStore(base));
      expect(open.identify({ authorization: 'Bearer anything', remoteAddress: address }).name).toBe('anonymous');
    },
  );

  it.each(['10.0.0.1', '::2', '128.0.0.1', '::ffff:10.0.0.1', 'localhost', '127.0.0.1.example', '', undefined])(
    'are refused at %p when no key is configured',
    remoteAddress => {
      const open = new Gatekeeper(configStore(base));
      expect(() => open.identify({ authorization: undefined, remoteAddress })).toThrow(NotAllowed);
    },
  );
});

describe('operators', () => {
  const guarded = new Gatekeeper(configStore({ ...keyed, admin: { key: 'operator-key' } }));
  const open = new Gatekeeper(configStore(keyed));

  it('show the admin key, from anywhere', () => {
    expect(() =>
      guarded.requireAdmin({ authorization: 'Bearer operator-key', remoteAddress: '10.0.0.1' }),
    ).not.toThrow();
    expect(() => guarded.requireAdmin({ authorization: 'Bearer sk-shop-key', remoteAddress: '127.0.0.1' })).toThrow(
      InvalidApiKey,
    );
    expect(() => guarded.requireAdmin({ authorization: undefined, remoteAddress: '127.0.0.1' })).toThrow(InvalidApiKey);
  });

  it('find the page that asks for the key from anywhere, but not where there is no key to ask for', () => {
    const from = (remoteAddress: string) => ({ authorization: undefined, remoteAddress });
    expect(() => guarded.requireMayAskKey(from('10.0.0.1'))).not.toThrow();
    expect(() => open.requireMayAskKey(from('127.0.0.1'))).not.toThrow();
    expect(() => open.requireMayAskKey(from('10.0.0.1'))).toThrow(NotAllowed);
  });

  it('are on this machine where no admin key is set', () => {
    expect(() => open.requireAdmin({ authorization: undefined, remoteAddress: '::1' })).not.toThrow();
    expect(() => open.requireAdmin({ authorization: 'Bearer ', remoteAddress: '10.0.0.1' })).toThrow(NotAllowed);
  });

  it.each([
    ['http://evil.example', '127.0.0.1:8080'],
    ['http://127.0.0.1:3000', '127.0.0.1:8080'],
    ['null', '127.0.0.1:8080'],
    ['http://evil.example', undefined],
    ['http://evil.example:8080', 'evil.example:8080'],
    ['http://localhost.example', 'localhost.example'],
  ])('are not the page of %s that a browser shows on this machine', (origin, host) => {
    const page = { origin, host };
    const shown = { authorization: undefined, remoteAddress: '127.0.0.1', page };
    expect(() => open.requireAdmin(shown)).toThrow(NotAllowed);
    expect(() => guarded.requireAdmin({ ...shown, authorization: 'Bearer operator-key' })).not.toThrow();
  });

  it.each([
    ['http://127.0.0.1:8080', '127.0.0.1:8080'],
    ['http://[::1]:8080', '[::1]:8080'],
    ['http://LocalHost:8080', 'localhost:8080'],
    ['http://spillway.localhost', 'Spillway.localhost'],
    [undefined, 'anything'],
  ])('may use the page of this server: %s at %s', (origin, host) => {
    const page = { origin, host };
    expect(() => open.requireAdmin({ authorization: undefined, remoteAddress: '127.0.0.1', page })).not.toThrow();
  });
});
