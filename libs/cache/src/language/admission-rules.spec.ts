import { CACHE_RULES, type CacheRule, type JsonObject } from '@spillway/contracts';
import { refusingRule } from './admission-rules';

const ask = (text: string, more: JsonObject = {}) =>
  refusingRule({ messages: [{ role: 'user', content: text }], ...more }, text);

describe('admission', () => {
  it.each([
    'How do I reset my password?',
    'How can I cancel my order?',
    'What is your return policy?',
    'How low can my balance go before there is a fee?',
    'Is this jacket waterproof?',
    'Do you ship to Norway?',
    'What is the capital of France?',
    '怎么修改我的收货地址',
    '如何取消订单',
    '这款手机能打游戏吗',
    '退货流程是什么',
  ])('is open to %s', text => {
    expect(ask(text)).toBeNull();
  });

  const refused: [CacheRule, string][] = [
    ['long', 'a '.repeat(400)],
    ['json', 'What is wrong with {"a": 1, "b": [2]}?'],
    ['logs', 'Why this? 2026-01-02 10:11:12 ERROR pool exhausted'],
    ['code', 'Explain ```print(1)```'],
    ['code', 'What does SELECT name FROM users do'],
    ['volatile', 'What is the weather in Paris?'],
    ['volatile', 'Who is the president now?'],
    ['volatile', 'What does it cost today?'],
    ['volatile', '现在美元汇率是多少'],
    ['volatile', '这个多少钱'],
    ['action', 'Cancel my pending payment.'],
    ['action', 'Can you please transfer $500 to savings?'],
    ['action', '帮我取消订单'],
    ['action', '把空调调到26度'],
    ['personal', 'Where is my order?'],
    ['personal', 'What is my account balance?'],
    ['personal', 'How low is my balance?'],
    ['personal', 'Status of order 10482'],
    ['personal', '我的快递到哪了'],
    ['personal', '订单号 20231105 到哪了'],
  ];
  it.each(refused)('by the rule %s is closed to %s, unless it is off', (rule, text) => {
    expect(ask(text)).toBe(rule);
    expect(refusingRule({ messages: [] }, text, { [rule]: false })).not.toBe(rule);
  });

  it.each<[CacheRule, JsonObject]>([
    ['choices', { n: 2 }],
    ['tools', { tools: [{ type: 'function' }] }],
    [
      'tools',
      {
        messages: [
          { role: 'tool', content: 'x' },
          { role: 'user', content: 'so?' },
        ],
      },
    ],
    ['images', { messages: [{ role: 'user', content: [{ type: 'image_url' }, { type: 'text', text: 'so?' }] }] }],
  ])('by the rule %s is closed to %j', (rule, body) => {
    expect(ask('so what is it', body)).toBe(rule);
    expect(refusingRule(body, 'so what is it', { [rule]: false })).toBeNull();
  });

  it.each([4_000, 4_001])('compares no text of more than 4000 characters, whatever is off: %d', length => {
    const refusal = refusingRule({ messages: [] }, 'a'.repeat(length), { long: false });
    expect(refusal).toBe(length > 4_000 ? 'long' : null);
  });

  // Where it takes time by the square a million line breaks keep the process for the better part of an hour.
  it.each(['\n', '1', '<a', 'SELECT x '])('is not held up by a long prompt of %j', piece => {
    const begun = performance.now();
    refusingRule({ messages: [] }, `a${piece.repeat(1_000_000)}b`, { long: false });
    expect(performance.now() - begun).toBeLessThan(2_000);
  });

  it('finds code and logs that are indented', () => {
    expect(ask('Why?\n\n    at Object.run (index.js:10:5)')).toBe('logs');
    expect(ask('What is this?\n\n\tconst total = sum(prices);')).toBe('code');
  });

  it('knows every rule by name', () => {
    const seen = new Set([...refused.map(([rule]) => rule), 'choices', 'tools', 'images']);
    expect([...CACHE_RULES].filter(rule => !seen.has(rule))).toEqual([]);
  });
});
