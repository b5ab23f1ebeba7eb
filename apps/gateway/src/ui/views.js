const NUMBER = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const SVG = 'http://www.w3.org/2000/svg';
const CLASSES = ['critical', 'normal', 'low'];
const GOOD = ['cache-exact', 'cache-semantic', 'coalesced', 'generated'];
/** What the words for the state of a breaker mean for its model. */
const MEANING = {
  closed: 'in use',
  degraded: 'used last',
  'half-open': 'being tried',
  open: 'not called',
  paused: 'not called',
};
const POLITE = ['fallback-model', 'fallback-response', 'client-gone', 'not-cached'];

/** An element; text goes in as text, whatever it holds. */
function make(tag, { className = '', ...attributes } = {}, ...children) {
  const element = document.createElement(tag);
  if (className !== '') element.className = className;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.filter(child => child !== null));
  return element;
}

const number = value => (Number.isFinite(value) ? NUMBER.format(value) : '–');

export function duration(ms) {
  if (ms === null || !Number.isFinite(ms)) return '–';
  if (ms < 1_000) return `${number(ms)} ms`;
  return ms < 120_000 ? `${number(ms / 1_000)} s` : `${number(ms / 60_000)} min`;
}

function bytes(count) {
  if (count < 1_024) return `${count} B`;
  return count < 1_048_576 ? `${number(count / 1_024)} KiB` : `${number(count / 1_048_576)} MiB`;
}

function bar(label, text, share, kind = '') {
  const percent = Math.round(100 * Math.min(1, Math.max(0, share || 0)));
  const fill = make('div', { className: 'fill' });
  // By the object model, which the policy of the page allows; a style attribute it does not.
  fill.style.width = `${percent}%`;
  const meter = { role: 'meter', 'aria-label': label, 'aria-valuenow': percent, 'aria-valuetext': text };
  return make(
    'div',
    { className: `bar ${kind}` },
    make('div', { className: 'label' }, make('span', {}, label), make('span', {}, text)),
    make('div', { className: 'track', 'aria-valuemin': 0, 'aria-valuemax': 100, ...meter }, fill),
  );
}

function table(caption, heads, rows) {
  const cell = (value, tag = 'td') => {
    const isNumber = typeof value === 'number';
    return make(tag, { className: isNumber ? 'number' : '' }, isNumber ? number(value) : value);
  };
  const head = heads.map(([name, className = '']) => make('th', { scope: 'col', className }, name));
  return make(
    'table',
    {},
    caption && make('caption', {}, caption),
    make('thead', {}, make('tr', {}, ...head)),
    make('tbody', {}, ...rows.map(row => make('tr', {}, ...row.map(value => cell(value))))),
  );
}

function sparkline(values) {
  const top = Math.max(...values, 1);
  const step = 100 / Math.max(1, values.length - 1);
  const svg = document.createElementNS(SVG, 'svg');
  const line = document.createElementNS(SVG, 'polyline');
  const points = values.map((value, index) => `${index * step},${27 - (26 * value) / top}`);
  for (const [name, value] of [
    ['viewBox', '0 0 100 28'],
    ['preserveAspectRatio', 'none'],
    ['aria-hidden', 'true'],
  ])
    svg.setAttribute(name, value);
  line.setAttribute('points', points.join(' '));
  svg.append(line);
  return svg;
}

function tile(name, value, line = null) {
  return make('dl', { className: 'tile' }, make('dt', {}, name), make('dd', {}, value), line);
}

export function tiles({ span, status, history }) {
  const calls = span.rate('spillway_requests_total');
  const failed = span.rate('spillway_requests_total', { outcome: 'upstream-failed' });
  const cached = GOOD.slice(0, 3).reduce((sum, outcome) => sum + span.rate('spillway_requests_total', { outcome }), 0);
  const waiting = CLASSES.reduce((sum, name) => sum + status.queues[name], 0);
  const underWay = Object.values(status.models).reduce((sum, { inflight }) => sum + inflight, 0);
  return [
    tile('Calls a second, this process', number(calls), sparkline(history)),
    tile('Answered without a model', calls > 0 ? `${number((100 * cached) / calls)} %` : '–'),
    tile('Waiting for a turn', number(waiting)),
    tile('Calls of models under way', number(underWay)),
    tile('Failed a second, this process', number(failed)),
  ];
}

export function classes({ span, status }) {
  const row = name => [
    name,
    span.rate('spillway_requests_total', { priority: name }),
    status.queues[name],
    duration(1_000 * (span.quantile('spillway_queue_wait_seconds', 0.95, { priority: name }) ?? NaN)),
    duration(1_000 * (span.quantile('spillway_request_duration_seconds', 0.95, { priority: name }) ?? NaN)),
  ];
  const heads = [['Class'], ['Calls a second', 'number'], ['Waiting', 'number'], ['Wait, p95 ≤'], ['Answer, p95 ≤']];
  return [table(null, heads, CLASSES.map(row))];
}

export function outcomes({ span }) {
  const { after } = span;
  const found = after.values('spillway_requests_total', 'outcome').map(outcome => ({
    outcome,
    rate: span.rate('spillway_requests_total', { outcome }),
    count: after.sum('spillway_requests_total', { outcome }),
  }));
  if (found.length === 0) return [make('p', { className: 'quiet' }, 'No call yet.')];
  const total = found.reduce((sum, { rate }) => sum + rate, 0);
  const kind = outcome => (GOOD.includes(outcome) ? '' : POLITE.includes(outcome) ? 'warn' : 'bad');
  return found
    .sort((one, other) => other.rate - one.rate || other.count - one.count)
    .map(({ outcome, rate, count }) =>
      bar(outcome, `${number(rate)} a second · ${number(count)} in all`, rate / (total || 1), kind(outcome)),
    );
}

export function caches({ status: { caches: told } }) {
  const { exact, lookups } = told;
  const tiers = Object.entries(lookups).map(([tier, { hit = 0, miss = 0, ...others }]) => {
    const all = hit + miss + Object.values(others).reduce((sum, value) => sum + value, 0);
    return bar(tier, `${number((100 * hit) / (all || 1))} % of ${number(all)}`, hit / (all || 1));
  });
  const held = `Keeps ${number(exact.entries)} answers in ${bytes(exact.bytes)}.`;
  return [make('p', { className: 'quiet' }, held), ...tiers];
}

function stateOf({ health }) {
  const state = health.pausedSince === null ? health.state : 'paused';
  const kind = state === 'closed' ? 'good' : state === 'open' ? 'bad' : 'warn';
  return make('span', { className: `pill ${kind}` }, `${state}: ${MEANING[state]}`);
}

function healthOf({ health }) {
  const told = [
    health.why,
    health.calls > 0 ? `${number(100 * health.errorRate)} % of ${number(health.calls)} calls failed lately` : null,
    health.nextProbeMs === null ? null : `next probe in ${duration(health.nextProbeMs)}`,
  ].filter(Boolean);
  return told.length === 0 ? null : make('p', { className: 'quiet' }, told.join(' · '));
}

function bindingOf({ binds }) {
  if (binds === null) return null;
  const when = binds.inMs === null ? 'until a call ends' : `for ${duration(binds.inMs)}`;
  return make('p', {}, make('strong', {}, `${binds.limit} binds`), ` ${when}`);
}

function modelCard(name, model) {
  const limits = model.limits.map(({ limit, admitted, used }) => {
    const share = used / admitted;
    return bar(limit, `${number(used)} of ${number(admitted)}`, share, share >= 1 ? 'bad' : share >= 0.8 ? 'warn' : '');
  });
  const rate = model.learned?.rate ?? null;
  const facts = [
    `${number(model.inflight)} under way`,
    `${number(CLASSES.reduce((sum, each) => sum + model.waiting[each], 0))} waiting`,
    rate === null ? 'no ceiling learned' : `${number(rate)} calls a second (${model.learned.why})`,
  ];
  const rests = model.learned?.restMs > 0 ? make('p', {}, `Left alone for ${duration(model.learned.restMs)}`) : null;
  return make(
    'article',
    { className: 'card' },
    make('header', {}, make('h3', {}, name), stateOf(model)),
    make('p', { className: 'quiet' }, facts.join(' · ')),
    healthOf(model),
    bindingOf(model),
    rests,
    ...limits,
  );
}

export function models({ status }) {
  const entries = Object.entries(status.models);
  const isWell = ([, { health }]) => health.state === 'closed' && health.pausedSince === null;
  // First those that somebody should look at.
  return [...entries.filter(entry => !isWell(entry)), ...entries.filter(isWell)].map(entry => modelCard(...entry));
}

function queueOf(name, { depth, oldestMs, tickets, jobs }) {
  const counts = Object.entries(jobs ?? {}).filter(([, count]) => count > 0);
  const told = [
    `${number(depth)} waiting`,
    oldestMs === null ? null : `oldest ${duration(oldestMs)}`,
    jobs === null ? 'in memory' : `jobs: ${counts.map(([state, count]) => `${count} ${state}`).join(', ') || 'none'}`,
  ].filter(Boolean);
  const caption = `${name}: ${told.join(' · ')}`;
  if (tickets.length === 0) return make('p', {}, make('strong', {}, name), `: ${told.join(' · ')}`);
  const rows = tickets.map(({ ticket, waitedMs, leftMs, models: wanted, tokens, reached, owner }) => [
    ticket,
    duration(waitedMs),
    duration(leftMs),
    wanted.join(', '),
    tokens,
    reached ? 'yes' : 'no',
    owner,
  ]);
  const heads = [['Ticket'], ['Waited'], ['Left'], ['Models'], ['Tokens', 'number'], ['Reached'], ['Process']];
  return make('div', { className: 'scroll tickets' }, table(caption, heads, rows));
}

function jobsOf(kind, { queued, running, failed, jobs }) {
  const told = `${number(queued)} waiting · ${number(running)} running · ${number(failed)} failed for good`;
  if (jobs.length === 0) return make('p', {}, make('strong', {}, `${kind} jobs`), `: ${told}`);
  const rows = jobs.map(({ id, status, ageMs, attempts, key }) => [id, status, duration(ageMs), attempts, key]);
  const heads = [['Job'], ['State'], ['Age'], ['Attempts', 'number'], ['Key']];
  return make('div', { className: 'scroll tickets' }, table(`${kind} jobs: ${told}`, heads, rows));
}

export function queues({ queues: told }) {
  const jobs = Object.entries(told.jobs ?? {}).map(([kind, report]) => jobsOf(kind, report));
  return [...CLASSES.map(name => queueOf(name, told[name])), ...jobs];
}

function plain(value) {
  if (value === null || value === undefined) return '–';
  if (Array.isArray(value)) return value.map(plain).join(', ');
  if (typeof value === 'object')
    return Object.entries(value)
      .map(([name, one]) => `${name} ${plain(one)}`)
      .join(', ');
  return typeof value === 'number' ? number(value) : String(value);
}

export function explanation(told) {
  const { decisions, ...facts } = told;
  const rows = decisions.map(({ kind, ...what }) => [
    kind,
    Object.entries(what)
      .map(([name, value]) => `${name}: ${plain(value)}`)
      .join(' · '),
  ]);
  const pairs = Object.entries(facts).filter(([, value]) => value !== null);
  const list = pairs.map(([name, value]) => make('div', {}, make('dt', {}, name), make('dd', {}, plain(value))));
  return [
    make('dl', { className: 'facts' }, ...list),
    make('div', { className: 'scroll' }, table('What was decided, in order', [['Step'], ['Decision']], rows)),
  ];
}
