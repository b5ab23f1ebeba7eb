/** One spelling for a unit, by all the ways to write it. */
const UNITS: Readonly<Record<string, string>> = {
  kg: 'kg kgs kilo kilos kilogram kilograms 公斤 千克',
  g: 'gram grams 克',
  mg: 'mg milligram milligrams 毫克',
  lb: 'lb lbs pound pounds 磅',
  oz: 'oz ounce ounces 盎司',
  km: 'km kms kilometer kilometers kilometre kilometres 公里 千米',
  m: 'meter meters metre metres 米',
  cm: 'cm centimeter centimeters centimetre centimetres 厘米 公分',
  mm: 'mm millimeter millimeters millimetre millimetres 毫米',
  inch: 'inch inches 英寸 寸',
  ft: 'ft foot feet 英尺',
  l: 'liter liters litre litres 升',
  ml: 'ml milliliter milliliters millilitre millilitres 毫升',
  h: 'h hr hrs hour hours 小时 个小时 钟头 个钟头',
  min: 'min mins minute minutes 分钟',
  s: 'sec secs second seconds 秒 秒钟',
  day: 'day days 天 日',
  week: 'week weeks wk wks 周 个星期 星期 个礼拜 礼拜',
  month: 'month months 个月',
  year: 'year years yr yrs 年',
  gb: 'gb gigabyte gigabytes',
  mb: 'mb megabyte megabytes',
  tb: 'tb terabyte terabytes',
  w: 'w watt watts 瓦',
  c: 'c celsius 度 摄氏度',
  '%': '% percent',
  usd: 'usd dollar dollars bucks 美元 美金',
  yuan: 'yuan rmb cny 元 块 块钱 人民币',
  eur: 'eur euro euros 欧元',
  pc: 'pcs piece pieces 个 件 片',
};

const UNIT_OF = new Map(
  Object.entries(UNITS).flatMap(([unit, spellings]) => spellings.split(' ').map(spelling => [spelling, unit] as const)),
);
const SPELLINGS = [...UNIT_OF.keys()].sort((a, b) => b.length - a.length);
const NUMBER_WITH_UNIT = new RegExp(
  `(?<![\\w.])(\\d+(?:\\.\\d+)?)(?: ?(${SPELLINGS.filter(isHan).join('|')})| ?(${SPELLINGS.filter(not(isHan)).join('|')})(?![a-z0-9]))`,
  'g',
);

const ENGLISH_NUMBERS = new Map(
  (
    'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen ' +
    'eighteen nineteen'
  )
    .split(' ')
    .map((word, value) => [word, value] as const),
);
'twenty thirty forty fifty sixty seventy eighty ninety'
  .split(' ')
  .forEach((word, index) => ENGLISH_NUMBERS.set(word, 20 + 10 * index));
// One is a pronoun more often than a number.
ENGLISH_NUMBERS.delete('one');
const ENGLISH_NUMBER = new RegExp(`\\b(?:${[...ENGLISH_NUMBERS.keys()].join('|')})\\b`, 'g');
const COMPOUND =
  /\b(twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)[ -](one|two|three|four|five|six|seven|eight|nine)\b/g;

/** Words in which a numeral counts nothing. */
const NO_NUMERALS =
  '一个(?!月|小时|星期|礼拜|钟头)|一[首段种张份篇封条只台部款位名本家]|两步|二次|一致|一下|一般|一样|一定|一直|一起|一些|一切|一点|一旦|一边|一种|统一|唯一|万一|十分|千万别|百度|千[克米瓦卡帕]|周[一二三四五六日]|星期[一二三四五六日]|' +
  '礼拜[一二三四五六]|第[一二三四五六七八九十]+|三星|三明治|二手|二维码|五金|九寨沟|四川|八卦|一一|七夕|万科|一卡通|哪一[个款种]|任一|万达';
const CHINESE_NUMERAL = new RegExp(
  `(${NO_NUMERALS})|百分之([零〇一二两三四五六七八九十百千\\d.]+)|([零〇一二两三四五六七八九十百千万亿]+)|(\\d+(?:\\.\\d+)?)([万亿千])`,
  'g',
);
const DIGITS: Readonly<Record<string, number>> = {
  零: 0,
  〇: 0,
  一: 1,
  二: 2,
  两: 2,
  三: 3,
  四: 4,
  五: 5,
  六: 6,
  七: 7,
  八: 8,
  九: 9,
};
const SCALES: Readonly<Record<string, number>> = { 十: 10, 百: 100, 千: 1000, 万: 10_000, 亿: 100_000_000 };

/** The same text for numbers and amounts that are the same however written: `1,000` `1000` `一千`, `5 kg` `5kg` `5公斤`. */
export function withPlainNumbers(text: string): string {
  if (!MAY_COUNT.test(text)) return text;
  return text
    .replace(/(?<![\d.])\d{1,3}(?:,\d{3})+(?!\d)/g, number => number.replaceAll(',', ''))
    .replace(/(\d{4})(?:-|\/|年)(\d{1,2})(?:-|\/|月)(\d{1,2})日?/g, (_, year, month, day) =>
      [year, Number(month), Number(day)].join('-'),
    )
    .replace(CHINESE_NUMERAL, plainChinese)
    .replace(COMPOUND, (_, tens: string, ones: string) =>
      String((ENGLISH_NUMBERS.get(tens) ?? 0) + (ones === 'one' ? 1 : (ENGLISH_NUMBERS.get(ones) ?? 0))),
    )
    .replace(ENGLISH_NUMBER, word => String(ENGLISH_NUMBERS.get(word)))
    .replace(/([$¥€£]) ?(\d+(?:\.\d+)?)/g, (_, sign: string, amount: string) => `${amount}${SIGNS[sign] ?? sign}`)
    .replace(/(\d+\.\d*?)0+(?=\D|$)/g, (_, number: string) => number.replace(/\.$/, ''))
    .replace(
      NUMBER_WITH_UNIT,
      (_, number: string, han?: string, latin?: string) => `${number}${UNIT_OF.get(han ?? latin ?? '')}`,
    );
}

const MAY_COUNT = new RegExp(
  `[\\d${[...Object.keys(DIGITS), ...Object.keys(SCALES)].join('')}]|${ENGLISH_NUMBER.source}`,
);

const SIGNS: Readonly<Record<string, string>> = { $: 'usd', '¥': 'yuan', '€': 'eur', '£': 'gbp' };

function plainChinese(
  whole: string,
  fixed?: string,
  percent?: string,
  numeral?: string,
  amount?: string,
  scale?: string,
) {
  if (percent !== undefined) return `${/\d/.test(percent) ? percent : valueOf(percent)}%`;
  if (numeral !== undefined) return /^[零〇]./.test(numeral) ? `0${valueOf(numeral)}` : String(valueOf(numeral));
  if (amount !== undefined) return String(Math.round(Number(amount) * (SCALES[scale ?? ''] ?? 1)));
  return fixed ?? whole;
}

/** 二〇二六 is read digit by digit, 一万二千 by scales; a digit at the end counts what is next: 一百五 is 150, 一百零五 105. */
function valueOf(numeral: string): number {
  if (!Array.from(numeral).some(character => character in SCALES)) {
    return Number(
      Array.from(numeral)
        .map(character => DIGITS[character] ?? 0)
        .join(''),
    );
  }
  let total = 0;
  let section = 0;
  let digit = 0;
  let next = 1;
  for (const character of numeral) {
    const scale = SCALES[character];
    if (scale === undefined) {
      digit = DIGITS[character] ?? 0;
      if (digit === 0) next = 1;
    } else if (scale < 10_000) {
      section += (digit === 0 ? 1 : digit) * scale;
      digit = 0;
      next = scale / 10;
    } else {
      total = (total + Math.max(section + digit * next, total === 0 ? 1 : 0)) * scale;
      next = scale / 10;
      section = 0;
      digit = 0;
    }
  }
  return total + section + digit * next;
}

function isHan(text: string): boolean {
  return /\p{Script=Han}/u.test(text);
}

function not<Value>(test: (value: Value) => boolean): (value: Value) => boolean {
  return value => !test(value);
}
