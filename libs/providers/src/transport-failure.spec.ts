import { failureOfTransport } from './transport-failure';

const coded = (code: string): Error => Object.assign(new Error('no'), { code });

it.each([
  ['ECONNRESET', 'network', 'failure'],
  ['ENOTFOUND', 'network', 'failure'],
  ['UND_ERR_SOCKET', 'network', 'failure'],
  ['Z_DATA_ERROR', 'protocol', 'failure'],
  ['EMFILE', 'no-socket', 'none'],
  ['EADDRNOTAVAIL', 'no-socket', 'none'],
])('%s is a failure of the kind %s, which counts as %s', (code, kind, effect) => {
  const expected = { kind, successor: 'any', health: { effect } };
  expect(failureOfTransport(coded(code))).toMatchObject(expected);
  expect(failureOfTransport(new AggregateError([coded(code), coded('ECONNREFUSED')]))).toMatchObject(expected);
});

it('an error without a code is no fault of a provider', () => {
  const error = new TypeError('of our own');
  expect(failureOfTransport(error)).toBe(error);
});
