import {
  isJsonObject,
  type CacheRule,
  type JsonObject,
  type JsonValue,
  type RouteCacheSettings,
} from '@spillway/contracts';
import { normalise } from './normalise';

/** Characters of a question at most: longer ones are tasks on a text of their own. */
const MOST_CHARACTERS = 600;
/** The same where that rule is switched off. Embedders see no more of a text, and reading one takes time by its square. */
const MOST_COMPARED = 4_000;

/** What the rules look at. */
interface Asked {
  readonly body: JsonObject;
  readonly messages: readonly JsonValue[];
  /** As it was sent. */
  readonly text: string;
  readonly plain: string;
}

/** In order of cost. */
const RULES: readonly (readonly [CacheRule, (asked: Asked) => boolean])[] = [
  ['choices', ({ body }) => typeof body['n'] === 'number' && body['n'] > 1],
  ['long', ({ text }) => text.length > MOST_CHARACTERS],
  ['tools', hasTools],
  ['images', ({ messages }) => messages.some(hasOtherParts)],
  ['json', ({ text }) => /^\s*[[{][\s\S]*[\]}]\s*$/.test(text) || /[{[]\s*"[^"]*"\s*[:,]/.test(text)],
  ['logs', ({ text }) => LOG.test(text)],
  ['code', ({ text }) => CODE.test(text)],
  ['volatile', ({ plain }) => VOLATILE.test(plain)],
  ['action', ({ plain }) => isAction(plain)],
  ['personal', ({ plain }) => isPersonal(plain)],
];

/**
 * The first rule that keeps a call from being answered, or its answer from being kept, under anything but its exact
 * key; null: none does. `text` is what the last message asks.
 */
export function refusingRule(
  body: JsonObject,
  text: string,
  switches: RouteCacheSettings['rules'] = {},
): CacheRule | null {
  if (text.length > MOST_COMPARED) return 'long';
  const messages = body['messages'];
  const asked = { body, messages: Array.isArray(messages) ? messages : [], text, plain: plainOf(text) };
  for (const [rule, refuses] of RULES) {
    if (switches[rule] !== false && refuses(asked)) return rule;
  }
  return null;
}

/** Long texts are no questions; their first part is enough for a rule that is switched off before. */
function plainOf(text: string): string {
  return normalise(text.slice(0, MOST_CHARACTERS));
}

function hasTools({ body, messages }: Asked): boolean {
  return isFilled(body['tools']) || isFilled(body['functions']) || messages.some(isToolTraffic);
}

function isFilled(value: JsonValue | undefined): boolean {
  return Array.isArray(value) && value.length > 0;
}

function isToolTraffic(message: JsonValue): boolean {
  if (!isJsonObject(message)) return false;
  return message['role'] === 'tool' || message['role'] === 'function' || isFilled(message['tool_calls']);
}

function hasOtherParts(message: JsonValue): boolean {
  const content = isJsonObject(message) ? message['content'] : undefined;
  return Array.isArray(content) && content.some(part => isJsonObject(part) && part['type'] !== 'text');
}

const LOG =
  /\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}|^[^\S\n]*at \S+ \(?\S+:\d+|\b(?:ERROR|WARN|INFO|DEBUG|FATAL)\b[\s:\]]|Traceback \(most recent|\bException in thread/m;
const CODE =
  /```|^[^\S\n]*(?:import|from|def|class|function|const|let|var|public|#include|SELECT|INSERT|UPDATE|DELETE)\b.*[;:({]|=>|\);|\{\s*$|<\/?[a-z]+[^>]*>|^[^\S\n]*\$ \w|\bSELECT\b.+\bFROM\b/m;

const VOLATILE = new RegExp(
  [
    String.raw`\b(?:now|today|tonight|tomorrow|yesterday|currently|current|latest|recent|recently|nowadays|at the moment|as of|so far|this (?:week|month|year|morning|afternoon|evening|weekend)|(?:next|last) (?:week|month|year|weekend|monday|tuesday|wednesday|thursday|friday|saturday|sunday)|right away|weather|forecast|temperature outside|exchange rate|stock price|share price|price of|prices?|how much (?:is|are|does|do)|in stock|news|headlines|what time is it|what day is it|traffic|wait time|score of|who won|who is winning|upcoming|still open|open right|deals?|on sale)\b`,
    '现在|目前|当前|今天|今日|今晚|今早|明天|明日|后天|昨天|前天|刚才|刚刚|最新|最近|近期|实时|本周|这周|下周|上周|本月|这个月|下个月|上个月|今年|去年|明年|天气|气温|下雨|汇率|股价|金价|油价|价格|多少钱|价钱|售价|现货|库存|有货|新闻|热搜|路况|几点了|几号了|星期几|礼拜几|排队|促销|打折|活动还有',
  ].join('|'),
);

const POLITE =
  /^(?:please|kindly|hi|hello|hey|so|ok|okay|just|now|then|[,.! ]|(?:can|could|would|will) you(?: please)?|i (?:want|need|would like|wish|am trying|am looking) (?:you )?to|i want|help me(?: to)?|go ahead and|let us|请问?|你好|您好|麻烦(?:你|您)?|帮我|帮忙|给我|我想要?|我要|能不能|可以|可不可以|能|立即|马上|立刻|快)+/;
const ACTION =
  /^(?:cancel|transfer|close|lock|freeze|block|send|pay|buy|book|order|delete|remove|update|change|move|dispute|file|increase|raise|lower|decrease|open|activate|deactivate|unlock|unfreeze|refund|return|reschedule|schedule|submit|add|create|make|set|turn|switch|stop|start|shut|reserve|withdraw|deposit|report|renew|upgrade|downgrade|subscribe|unsubscribe|enroll|reset|replace|reorder|play|pause|resume|call|text|email|remind|wake|order|apply|redeem|approve|reject|confirm|charge|ship|exchange|roll|sign|log|put|save|enable|disable|share|post|publish|upload|download)\b/;
const CHINESE_ACTION =
  /^(?:把|将)|^(?:取消|退订|退掉|退款|退货|换货|转账|汇款|转|支付|付款|付|购买|买|下单|订|预订|预约|冻结|解冻|挂失|关闭|打开|开启|注销|删除|修改|更改|充值|充|提现|还款|申请|提交|发送|发|打电话|呼叫|播放|放|暂停|停止|设置|设|提醒|叫醒|绑定|解绑|开通|续费|投诉|报修|寄|催|查一下我)/;
/** Whoever asks how does not ask to have it done. */
const ASKS =
  /\b(?:how|what|why|when|where|which|who|can i|should i|may i|do i|is it|does|fees?|policy|steps|process)\b|\?|怎么|如何|怎样|咋|什么|啥|吗|多久|多少|哪|谁|为何|能不能|可不可以|是否|几|条件|流程|方法|步骤|时间|方式|政策|规则|？/;

/** Something is to be done, not told. */
function isAction(plain: string): boolean {
  const rest = plain.replace(POLITE, '');
  const isAsking = ASKS.test(plain.replace(/^(?:.*?)(?:can|could|would|will) you\b|能不能|可不可以|\?$/g, ''));
  return (ACTION.test(rest) || CHINESE_ACTION.test(rest)) && !isAsking;
}

const OWN_THING =
  /\b(?:my|our) (?:\w+ ){0,3}?(?:orders?|accounts?|balances?|bills?|invoices?|statements?|transactions?|payments?|packages?|parcels?|deliver(?:y|ies)|shipments?|refunds?|subscriptions?|plan|appointments?|bookings?|reservations?|tickets?|claims?|application|loans?|mortgage|salary|paycheck|points|rewards|credit(?: score| limit)?|limit|cards?|cart|profile|address|emails?|messages?|calendar|schedule|meetings?|flights?|trip|gain|loss|portfolio|policy|usage|data|history|spending|name|birthday|location|luggage|car|phone)\b/;
const CHINESE_OWN_THING =
  /我(?:的)?.{0,6}?(?:订单|快递|包裹|账单|余额|账户|账号|积分|会员|优惠券|银行卡|信用卡|卡|额度|工资|贷款|退款|物流|行程|航班|预约|预订|日程|消息|邮件|合同|保单|流量|话费|名字|生日|位置|钱)/;
const RECORD =
  /\b(?:status|details|tracking|email|number|balance|results?|history|transactions) (?:of|for|on|on file)\b.*(?:#|\b[a-z]{0,4}-?\d{3,}|customer|patient|member|order|case)|\b(?:order|case|ticket|patient|member|invoice|account|tracking|wire transfer)s?(?: id| number| no\.?|:)* ?#? ?[a-z]{0,4}-?\d{3,}|\b(?:customer|patient|member|client) [a-z]+ [a-z]+\b|\b[a-z]+ [a-z]+'s (?:account|card|balance|file|record)|(?:订单|单号|工单|运单|快递|账单|保单|病历|卡|尾号|房|楼)(?:号|编号|号码)?[:：是为]? ?[a-z]{0,4}-?\d{3,}/;
/** General advice about what one owns. */
const GENERAL =
  /\b(?:how (?:do|can|could|should|would|to)|how \w+ (?:can|could|may|should|must) (?:i|my|our)|way to|steps|can i|may i|should i|why (?:is|was|are|did|does|can|do)|what (?:should|can|happens|do i need)|do i need|is it (?:safe|possible|ok))\b|怎么|如何|怎样|咋|为什么|为何|能不能|可以|可不可以|能否|步骤|方法|流程|办法/;

/** Answered from somebody's own records. */
function isPersonal(plain: string): boolean {
  if (RECORD.test(plain)) return true;
  return (OWN_THING.test(plain) || CHINESE_OWN_THING.test(plain)) && !GENERAL.test(plain);
}
