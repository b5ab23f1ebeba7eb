import fc from 'fast-check';
import { canonicalKey } from './canonical-key';

const WORDS =
  'please can you tell me how do i to what is the a of my your order not no 5kg price much does it cost bank hello where from paris and if';
const CHARACTERS = '请问怎么如何我的你的订单取消不退款吗能可以什么是多少钱一二个的了在哪里为账号';

describe('the canonical key', () => {
  it.each([
    ['What is the capital of France?', 'what is the capital of france'],
    ['What is the capital of France?', '  What is the capital of France ?? '],
    ['How do I reset my password?', 'How can I reset my password?'],
    ['How to turn on dark mode?', 'How do I turn on dark mode?'],
    ['List three uses of baking soda.', 'Please list 3 uses of baking soda.'],
    ['Could you please tell me what the return policy is?', 'hello, what is the return policy'],
    ['请问怎么取消订单？', '如何取消订单'],
    ['这个多少钱', '这个的价格是多少呢'],
  ])('is one for %s and %s', (a, b) => {
    expect(canonicalKey(a)).not.toBeNull();
    expect(canonicalKey(a)).toBe(canonicalKey(b));
  });

  it.each([
    ['How do I reset my password?', 'How do I reset your password?'],
    ['Is it waterproof?', 'Is it not waterproof?'],
    ['表哥的妈妈是谁', '妈妈的表哥是谁'],
    ['flights from Paris to Rome', 'flights from Rome to Paris'],
    ['order 10482', 'order 10428'],
    ['What is the return policy?', 'Is the return policy?'],
    ['上班时间', '下班时间'],
    ['How do I buy stock?', 'How do I purchase stock?'],
    ['帮我写信', '我写信给你'],
  ])('differs for %s and %s', (a, b) => {
    expect(canonicalKey(a)).not.toBe(canonicalKey(b));
  });

  it.each(['', '   ', '??', 'please', 'hello', '请问', 'what is the'])('is nothing for %j', text => {
    expect(canonicalKey(text)).toBeNull();
  });

  it('of a key is the key', () => {
    const english = fc.array(fc.constantFrom(...WORDS.split(' ')), { maxLength: 12 }).map(words => words.join(' '));
    const chinese = fc
      .array(fc.constantFrom(...Array.from(CHARACTERS)), { maxLength: 14 })
      .map(characters => characters.join(''));
    fc.assert(
      fc.property(fc.oneof(english, chinese, fc.string()), text => {
        const key = canonicalKey(text);
        expect(key === null || canonicalKey(key) === key).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});
