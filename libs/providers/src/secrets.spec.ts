import { clearSecrets } from './secrets';

describe('clearSecrets', () => {
  it.each([
    ['Bearer UPSTREAM_KEY_1 is wrong', 'Bearer [redacted] is wrong'],
    ['bad key AIzaSyFAKEFAKEFAKEFAKE.', 'bad key [redacted].'],
    ['Incorrect API key provided: sk-proj-abc123def456.', 'Incorrect API key provided: [redacted].'],
    ['GET /v1/models?api_key=sk-query-key-123456&a=1', 'GET /v1/models?api_key=[redacted]&a=1'],
    ['https://host/v1?key=0123456789&alt=sse', 'https://host/v1?key=[redacted]&alt=sse'],
    ['{"api_key":"0123456789"}', '{"api_key":"[redacted]"}'],
    ['key=sk-secret</body>', 'key=[redacted]</body>'],
  ])('clears %p', (text, expected) => {
    expect(clearSecrets(text, [])).toBe(expected);
  });

  it.each([
    ['a risk-based task-force of asterisk-users'],
    ["Missing required key: 'messages'"],
    ["'max_tokens: 32768' is too large, tokens=5"],
  ])('leaves %p', text => {
    expect(clearSecrets(text, [])).toBe(text);
  });

  it('clears configured secrets of any form, but no placeholders', () => {
    expect(clearSecrets('your key UPSTREAM_KEY_1, none', ['UPSTREAM_KEY_1', 'none', undefined])).toBe(
      'your key [redacted], none',
    );
  });
});
