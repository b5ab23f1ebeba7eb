import { normalise } from './normalise';

describe('a normalised text', () => {
  it.each<[string, string[]]>([
    ['numbers', ['1,000', '1000', '1000.0', '一千', '１０００', '1千']],
    ['scales', ['12300', '一万二千三百', '1.23万', '12,300']],
    ['digits read one by one', ['2026', '二〇二六']],
    ['small numbers', ['21', 'twenty-one', 'twenty one', '二十一']],
    ['weights', ['5 kg', '5kg', '5 公斤', '5公斤', '五公斤', 'five kilograms', '5 千克']],
    ['spans', ['3 天', '3 days', 'three days', '三天']],
    ['money', ['$5,000', '5000 USD', '5000 dollars', '五千美元']],
    ['shares', ['5%', '5 percent', '百分之五']],
    ['dates', ['2026-01-02', '2026/1/2', '2026年1月2日']],
    ['case and white space', ['What  is\tUp', 'what is up', 'WHAT IS UP', "what's up", 'What’s up']],
    ['traditional characters', ['怎麼綁定銀行卡', '怎么绑定银行卡']],
    ['asking by doubling', ['这款手机支不支持快充', '这款手机是否支持快充']],
  ])('is the same for %s however written', (_, texts) => {
    expect(new Set(texts.map(normalise)).size).toBe(1);
  });

  it.each([
    ['us', 'US'],
    ['2026-01-02', '2026-02-01'],
    ['5 kg', '5 g'],
    ['1.5', '15'],
    ['一下', '1下'],
  ])('keeps %s and %s apart', (a, b) => {
    expect(normalise(`tell ${a}`)).not.toBe(normalise(`tell ${b}`));
  });
});
