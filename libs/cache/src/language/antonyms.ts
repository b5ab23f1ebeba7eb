import { stem } from './english-stem';
import { read } from './reading';

/** Words that turn an answer round when one stands for the other, in pairs. */
const ENGLISH =
  'buy sell,long short,call put,deposit withdraw,deposit withdrawal,lend borrow,debit credit,checking savings,income expense,profit loss,gain loss,asset liability,' +
  'increase decrease,rise fall,raise lower,high low,maximum minimum,best worst,good bad,better worse,advantage disadvantage,benefit drawback,pro con,' +
  'open close,start stop,begin end,start end,start finish,turn-on turn-off,enable disable,activate deactivate,lock unlock,freeze unfreeze,block unblock,allow deny,accept reject,approve reject,approve deny,' +
  'accept decline,add remove,add delete,install uninstall,subscribe unsubscribe,follow unfollow,connect disconnect,attach detach,import export,upload download,encrypt decrypt,compress decompress,' +
  'send receive,send obtain,give take,push pull,enter exit,arrive depart,arrival departure,arrived left,departure return,inbound outbound,incoming outgoing,inbound outgoing,check-in check-out,log-in log-out,' +
  'include exclude,included excluded,covered excluded,eligible ineligible,legal illegal,safe dangerous,safe unsafe,possible impossible,valid invalid,active inactive,visible hidden,' +
  'before after,early late,earlier later,old new,young old,first last,morning evening,day night,hot cold,warm cold,wet dry,hard soft,heavy light,fast slow,quick slow,large small,wide narrow,thick thin,' +
  'full empty,cheap expensive,rich poor,easy hard,strong weak,male female,man woman,boy girl,husband wife,father mother,brother sister,son daughter,king queen,actor actress,' +
  'domestic international,local global,national international,public private,internal external,inner outer,indoor outdoor,online offline,inside outside,up down,left right,north south,east west,front back,top bottom,upper lower,' +
  'win lose,won lost,pass fail,success failure,live die,birth death,born died,love hate,like dislike,remember forget,find lose,create destroy,make destroy,build demolish,' +
  'positive negative,odd even,plus minus,add subtract,multiply divide,prevent cause,avoid cause,cause treat,prevent treat,cure cause,hedge profit,gross net,fixed variable,temporary permanent,prepaid postpaid,' +
  'employer employee,buyer seller,landlord tenant,teacher student,lender borrower,parent child,kid adult,adult child,senior junior,hire fire,marry divorce,' +
  'inherited gifted,refund exchange,refund replacement,give-back refund,repair replace,back-up restore,encode decode,serialize deserialize,freezing boiling,acid base,hypertension hypotension,hyper hypo,vertebrate invertebrate,ascending descending,horizontal vertical,synchronous asynchronous,' +
  'promote demote,upgrade downgrade,improve worsen,gain lose,speed slow,speed-up slow-down,appear disappear,agree disagree,honest dishonest,married single,alive dead,summer winter,spring fall,sunrise sunset,vegetarian vegan,front rear,used new,import deport,realized unrealized,hardware software';

const CHINESE =
  '购买 卖,购买 出售,买入 卖出,上 下,左 右,前 后,里 外,内 外,大 小,多 少,高 低,长 短,贵 便宜,优点 缺点,打开 关闭,开始 结束,冻结 解冻,绑定 解绑,登录 退出,安装 卸载,导入 导出,上传 下载,' +
  '存款 贷款,存 取,存入 取出,收入 支出,发货 收货,寄 收,进口 出口,入口 出口,国内 国际,国内 国外,男性 女性,父亲 母亲,妻子 丈夫,增加 降低,提高 降低,升级 降级,加 减,涨 跌,升 降,借 还,' +
  '正 负,阴 阳,冷 热,快 慢,早 晚,白天 晚上,新 旧,真 假,好 坏,生 死,胜 负,赢 输,进 出,来 去,去 回,开通 注销,注册 注销,开通 取消,申请 取消,退款 换货,退货 换货,退款 退货,充值 提现,储蓄卡 信用卡,公 私,含 无,有 无,已 未,备份 恢复,加密 解密,压缩 解压,单 双,奇 偶,主动 被动,线上 线下,固定 浮动,长期 短期,定期 活期,成人 小孩,输入 输出,东 西,南 北,' +
  '同意 拒绝,通过 拒绝,喜欢 讨厌,成功 失败,安全 危险,公开 隐藏,显示 隐藏,静音 响铃,锁定 解锁,顺 逆,首 末,入职 离职,入住 退房,起飞 降落,出发 到达,上班 下班,上涨 下跌,最高 最低,甲 乙,左边 右边,白 黑,软 硬,胖 瘦,粗 细,厚 薄,深 浅,宽 窄,轻 重,干 湿,咸 甜';

const OPPOSITES = new Map<string, Set<string>>();
for (const pair of `${ENGLISH},${CHINESE}`.split(',')) {
  const [a = '', b = ''] = pair.split(' ');
  for (const left of namesOf(a)) {
    for (const right of namesOf(b)) {
      opposites(left).add(right);
      opposites(right).add(left);
    }
  }
}

/** As it is written here, and as what the lists of synonyms make of it. */
function namesOf(word: string): ReadonlySet<string> {
  const terms = read(word.replaceAll('-', ' '));
  return new Set([stem(word), ...terms.filter(() => terms.length === 1).map(({ concept }) => concept)]);
}

function opposites(word: string): Set<string> {
  const known = OPPOSITES.get(word) ?? new Set<string>();
  OPPOSITES.set(word, known);
  return known;
}

const NEGATING = /^(?:un|in|im|ir|il|non|dis|anti|de|mis|over|under|pre|post|hyper|hypo|inter|intra|sub|super|ex|re)-?/;

/** Whether one of two words turns the other round: a known pair, or a prefix that does. */
export function areOpposites(a: string, b: string): boolean {
  if (OPPOSITES.get(a)?.has(b) === true) return true;
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  return short.length >= 4 && long.endsWith(short) && NEGATING.test(long) && long.replace(NEGATING, '') === short;
}
