import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { guard, pairKey, type GuardMode } from './guard';

const SETS = join(__dirname, '../../../../test/data/cache');

interface Pair {
  readonly a: string;
  readonly b: string;
  readonly isSame: boolean;
}

function pairsOf(file: string): Pair[] {
  const lines = readFileSync(join(SETS, file), 'utf8').trim().split('\n');
  return lines.map(line => {
    const [, a = '', b = '', label] = line.split('\t');
    return { a, b, isSame: label === '1' };
  });
}

function share(pairs: readonly Pair[], mode: GuardMode): number {
  return pairs.filter(({ a, b }) => guard(a, b, mode).serve).length / pairs.length;
}

describe.each([
  'en-everyday-103.tsv',
  'zh-everyday-104.tsv',
  'en-traps-69.tsv',
  'zh-traps-55.tsv',
  'en-traps-110.tsv',
  'zh-traps-76.tsv',
])('of %s', file => {
  const pairs = pairsOf(file);
  const traps = pairs.filter(({ isSame }) => !isSame);

  it('strict serves no trap to speak of', () => {
    expect(share(traps, 'strict')).toBeLessThanOrEqual(0.01);
  });

  it('balanced serves few', () => {
    expect(share(traps, 'balanced')).toBeLessThanOrEqual(0.04);
  });
});

it.each(['en-everyday-103.tsv', 'zh-everyday-104.tsv'])('paraphrases of %s are served', file => {
  const same = pairsOf(file).filter(({ isSame }) => isSame);
  expect(share(same, 'strict')).toBeGreaterThan(0.5);
});

describe('strict', () => {
  it.each([
    ['What is the capital of France?', 'what is the capital of france'],
    ['How do I reset my password?', 'How can I reset my password?'],
    ['How to turn on dark mode?', 'How do I turn on dark mode?'],
    ['List three uses of baking soda.', 'Please list three uses of baking soda.'],
    ['如何取消订单', '订单怎么取消'],
    ['怎么查看 docker 容器的日志', 'Docker 容器如何看日志'],
    ['How do I write a good essay?', 'How do I write an essay?'],
    ['What is the most loved song in the world?', 'What is really the most loved song at the world?'],
    ['How can I pay with a cheque?', 'How can I pay by using a cheque?'],
    ['Is there a limit on refunds?', 'Is there a limit for refunds?'],
    ['一千五能买什么手机', '一千五百能买什么手机'],
    ['介绍一下智能手表', '智能手表是什么'],
    ['5公斤大米怎么保存', '五千克大米如何保存'.replace('五千克', '5 kg')],
  ])('serves %s for %s (D13)', (a, b) => {
    expect(guard(a, b, 'strict').serve).toBe(true);
  });

  it.each([
    ['What is 17*23?', 'What is 17*24?', 'quantity'],
    ['What is 17*23?', 'What is 17+23?', 'quantity'],
    ['Status of order 10482', 'Status of order 10428', 'quantity'],
    ['Explain --max-cost', 'Explain --max-heads', 'quantity'],
    ['delete this branch', 'delete this repo', 'unexplained'],
    ['Weather in Paris, France', 'Weather in Paris, Texas', 'unexplained'],
    ['Population of Niger', 'Population of Nigeria', 'unexplained'],
    ["Translate 'good morning' to Spanish", "Translate 'good morning' to Italian", 'unexplained'],
    ['price on 2026-01-02', 'price on 2026-02-01', 'quantity'],
    ['Summarise in 3 words', 'Summarise in 30 words', 'quantity'],
    ['¿Cuál es la capital de Francia?', 'What is the capital of France?', 'unexplained'],
    ['法国的首都是哪里', 'What is the capital of France?', 'language'],
    ['表哥的妈妈怎么称呼', '妈妈的表哥怎么称呼', 'role'],
    ['trains from Rome to Paris', 'trains from Paris to Rome', 'role'],
    ['Is plan A free?', 'Is the plan free?', 'unexplained'],
    ['How do I reset my phone?', 'How do I reset his phone?', 'person'],
    ['Who played Hamlet?', 'Who plays Hamlet?', 'unexplained'],
    ['Who can I call?', 'Who can call me?', 'unexplained'],
    ['谁喜欢他', '他喜欢谁', 'role'],
    ['List the benefits of tea', 'Explain the benefits of tea', 'unexplained'],
    ['狗咬人怎么办', '人咬狗怎么办', 'role'],
    ['商家怎么投诉', '怎么投诉商家', 'unexplained'],
    ['Can I pay for the ticket?', 'Can I pay by the ticket?', 'unexplained'],
    ['Is a good essay long?', 'Is a short essay long?', 'unexplained'],
    ['Where can I use my card?', 'Where can I get my card?', 'unexplained'],
    ['How do I heat the oven?', 'How do I heat with the oven?', 'unexplained'],
    ['What is the need to insure a car?', 'What do I need to insure a car?', 'unexplained'],
    ['Is it a film for adults?', 'Is it a film about adults?', 'unexplained'],
    ['Can I swim with a cold?', 'Can I swim in the cold?', 'unexplained'],
    ['How many days in advance may I book?', 'How many days may I book?', 'unexplained'],
    ['一百零五块能买吗', '一百五块能买吗', 'quantity'],
    ['下午两点零五有车吗', '下午两点五有车吗', 'quantity'],
    ['Is the chair made in Norway?', 'Is the chair made for Norway?', 'unexplained'],
    ['Can I sue my landlord?', 'Can my landlord sue me?', 'role'],
    ['What must I verify?', 'Must I verify?', 'unexplained'],
    ['你能卖什么', '你能卖', 'unexplained'],
    ['What is a good credit score?', 'What is a credit score?', 'unexplained'],
  ])('does not serve %s for %s (D12): %s', (a, b, reason) => {
    expect(guard(a, b, 'strict')).toEqual({ serve: false, reason });
  });

  it('serves what was approved, whichever came first and however typed, but not past a danger', () => {
    const a = 'Are overdraft fees waived for students?';
    const b = 'Do students pay overdraft fees?';
    const approved = new Set([pairKey(b, a), pairKey('Is it safe?', 'Is it unsafe?')]);
    expect(guard(a, b, 'strict').serve).toBe(false);
    expect(guard(a.toUpperCase(), b, 'strict', approved)).toEqual({ serve: true, reason: 'approved' });
    expect(guard('Is it safe?', 'Is it unsafe?', 'strict', approved)).toEqual({ serve: false, reason: 'polarity' });
  });
});

it('balanced serves what only says it otherwise', () => {
  expect(guard('这款手机能打游戏吗', '这款手机游戏性能怎么样', 'balanced')).toEqual({
    serve: true,
    reason: 'harmless',
  });
});

describe('balanced', () => {
  it.each([
    ['How do I hire a decorator?', 'How do I hire a trustworthy decorator?', 'addition'],
    ['Why is my router so hot?', 'Why is my router hot all of the day?', 'addition'],
    ['Where can I park a bike?', 'How can I park a bike?', 'aspect'],
    ['What are some great board games?', 'What are some interesting board games?', 'wording'],
    ['How can I clean a rusty pan?', 'How can I get stains out of a rusty pan?', 'wording'],
    ['Why is Korean tea green?', 'Why is Korea tea green?', 'wording'],
  ])('doubts %s for %s: %s', (a, b, reason) => {
    expect(guard(a, b, 'balanced')).toEqual({ serve: false, reason });
  });

  it.each([
    ['When can I park a bike?', 'How can I park a bike?', 'question'],
    ['Does the basic plan have roaming?', 'Does the premium plan have roaming?', 'entity'],
    ['Is Niger rich?', 'Is Nigeria rich?', 'entity'],
    ['Are many seats free?', 'Are enough seats free?', 'quantity'],
    ['What did it cost?', 'What will it cost next year?', 'time'],
    ['When was it my turn?', 'When was it your turn?', 'person'],
    ['How do I start the engine?', 'How do I stop the engine?', 'polarity'],
    ['How do I purchase a bond?', 'How do I sell a bond?', 'polarity'],
  ])('refuses %s for %s: %s', (a, b, reason) => {
    expect(guard(a, b, 'balanced')).toEqual({ serve: false, reason });
  });

  it('takes you and somebody for anybody', () => {
    expect(guard('Signs that you may be deaf', 'Signs that someone may be deaf', 'balanced').serve).toBe(true);
  });
});

describe('another form of sentence', () => {
  it.each([
    ['Does the museum lend audio guides?', 'Are audio guides lent by the museum?'],
    ['Which tests does the lab run?', 'Which tests are run by the lab?'],
    ['Does this ticket cover the return ride?', 'Is the return ride covered by this ticket?'],
    ['Can I exchange the lamp within a week?', 'Can the lamp be exchanged within a week?'],
    ['Can I use the pass everywhere?', 'Can the pass be used everywhere?'],
    ['How can I renew a passport?', 'How can a passport be renewed?'],
    ['Do you repair watches?', 'Are watches repaired?'],
    ['Do members get parcels insured?', 'Are parcels insured for members?'],
    ['Does the villa have a pool?', 'Is there a pool at the villa?'],
    ['What risks does the operation have?', 'What are the risks of the operation?'],
    ['When does the winter sale start?', 'What is the start date of the winter sale?'],
    ['When does my visa expire?', 'What is the expiry date for my visa?'],
    ['How deep is the lake?', 'What is the depth of the lake?'],
    ['Can I pay for parcels in cash?', 'Is paying for parcels in cash possible?'],
    ['Which papers does the visa require?', 'What papers does the visa require?'],
    ['What should I do if I lose my badge?', 'What can I do if I lose my badge?'],
  ])('asks the same: %s, %s', (a, b) => {
    expect(guard(a, b, 'strict')).toEqual({ serve: true, reason: 'explained' });
  });

  it.each([
    ['Do cats chase mice?', 'Are cats chased by mice?'],
    ['Does the landlord pay the tenant?', 'Is the landlord paid by the tenant?'],
    ['Can I track my phone?', 'Can my phone be tracked?'],
    ['Can I return shoes?', 'Can you return shoes?'],
    ['Can I buy tickets?', 'Can tickets be bought by children?'],
    ['Is the door locked?', 'Do you lock the door?'],
    ['Do you lock my accounts?', 'Are my accounts locked?'],
    ['Do members get fees refunded?', 'Are members refunded for fees?'],
    ['Does the bank charge fees?', 'Are fees charged for the bank?'],
    ['Does the villa have a pool?', 'Is the villa in a pool?'],
    ['When does the sale start?', 'What is the end date of the sale?'],
    ['When does the visa expire?', 'What is the start date of the visa?'],
    ['How deep is the lake?', 'What is the width of the lake?'],
    ['What should I do with my card?', 'What is my card?'],
    ['Which phones do you have?', 'Do you have phones in red?'],
  ])('asks something else: %s, %s', (a, b) => {
    expect(guard(a, b, 'strict').serve).toBe(false);
  });
});

describe('two things that are joined', () => {
  it.each([
    ['What is the difference between oat milk and soy milk?', 'What is the difference between soy milk and oat milk?'],
    ['Which is better, tea or coffee?', 'Which is better, coffee or tea?'],
    ['红茶和绿茶的区别', '绿茶和红茶的区别'],
  ])('may change places: %s, %s', (a, b) => {
    expect(guard(a, b, 'strict')).toEqual({ serve: true, reason: 'explained' });
  });

  it.each([
    ['商家和客户谁付运费', '客户和商家谁付运费'],
    ['Compare tea and coffee to milk', 'Compare milk and tea to coffee'],
    ['Do I and he pay?', 'Do he and I pay?'],
  ])('may not where more moves, or one may act: %s, %s', (a, b) => {
    expect(guard(a, b, 'strict').serve).toBe(false);
  });
});

it('off serves all', () => {
  expect(guard('a', 'b', 'off')).toEqual({ serve: true, reason: 'off' });
});

describe('any two texts', () => {
  const words =
    'how do i my your cancel order not from to paris rome 5 kg buy sell password what is of the if order only'.split(
      ' ',
    );
  const characters = Array.from('怎么取消我的你订单不退款吗从到比把能一两狗人咬的了之前后');
  const text = fc.oneof(
    fc.array(fc.constantFrom(...words), { maxLength: 10 }).map(list => list.join(' ')),
    fc.array(fc.constantFrom(...characters), { maxLength: 10 }).map(list => list.join('')),
    fc.string({ unit: 'grapheme' }),
  );
  const mode = fc.constantFrom<GuardMode>('strict', 'balanced');

  it('are judged alike in either order', () => {
    fc.assert(
      fc.property(text, text, mode, (a, b, chosen) => {
        expect(guard(a, b, chosen).serve).toBe(guard(b, a, chosen).serve);
      }),
      { numRuns: 3000 },
    );
  });

  it('serve each other when they are one', () => {
    fc.assert(fc.property(text, mode, (a, chosen) => expect(guard(a, a, chosen).serve).toBe(true)));
  });
});
