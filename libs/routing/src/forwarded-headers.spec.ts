import { incomingCall } from '../../../test/support/calls';
import { forwardedHeaders } from './forwarded-headers';

describe('the headers that go to a model', () => {
  const forwarded = (...names: string[]): Record<string, string> =>
    forwardedHeaders(incomingCall({ headers: Object.fromEntries(names.map(name => [name, 'given'])) }));

  it.each([
    ['who calls', ['authorization', 'api-key', 'x-api-key', 'cookie', 'proxy-authorization']],
    ['whose account is used', ['openai-organization', 'openai-project']],
    ['what controls the router', ['x-spillway-scope', 'x-spillway-user', 'x-ark-max-wait-timeout-ms', 'prefer']],
    [
      'the connection and its body',
      ['connection', 'transfer-encoding', 'content-length', 'content-encoding', 'te', 'host'],
    ],
    [
      'where the caller is',
      ['x-forwarded-for', 'forwarded', 'x-real-ip', 'cf-connecting-ip', 'via', 'origin', 'referer'],
    ],
    ['what a client says of itself', ['user-agent', 'x-stainless-lang', 'sec-fetch-mode', 'accept-encoding']],
  ])('say nothing of %s', (_, names) => {
    expect(forwarded(...names)).toEqual({ 'x-request-id': 'call-1' });
  });

  it('are those that Spillway does not know, and the id of the call', () => {
    expect(forwarded('openai-beta', 'x-title', 'x-request-id', 'traceparent')).toEqual({
      'openai-beta': 'given',
      'x-title': 'given',
      traceparent: 'given',
      'x-request-id': 'call-1',
    });
  });
});
