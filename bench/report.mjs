import { readFileSync } from 'node:fs';
import { cpus, loadavg, platform, release, totalmem } from 'node:os';
import { spawnSync } from 'node:child_process';
import { VERSION as PORTKEY } from './peers/portkey.mjs';
import { cores } from './processes.mjs';
import { decimal, whole } from './statistics.mjs';

/** Programs that wanted a processor before anything was measured: above 0, neighbours disturb the figures. */
const [loadBefore] = loadavg();

/** What a column shows: its heading, and how a row of the measurement fills it. */
const COLUMNS = [
  ['', row => row.name],
  ['calls/s', row => row.perSecond, whole],
  ['CPU µs/call', row => row.cpu, decimal],
  ['calls/CPU s', row => 1_000_000 / row.cpu, whole],
  ['Redis µs/call', row => row.redisCpu, whole],
  ['core busy %', row => row.busy * 100, whole],
  ['valid windows', row => (row.windows === undefined ? undefined : `${row.valid}/${row.windows}`)],
  ['p50 ms', row => row.p50, decimal],
  ['p95 ms', row => row.p95, decimal],
  ['p99 ms', row => row.p99, decimal],
  ['longest ms', row => row.longest, whole],
  ['added p50 ms', row => row.added, decimal],
  ['chunk p50 ms', row => row.chunkP50, decimal],
  ['chunk p99 ms', row => row.chunkP99, decimal],
  ['CPU µs/chunk', row => row.chunkCpu, whole],
  ['calls', row => row.calls, whole],
  ['MB after first half', row => row.firstMb, whole],
  ['MB after last half', row => row.lastMb, whole],
  ['decisions', row => row.decisions, whole],
  ['too late', row => row.failed, whole],
  ['bytes in Redis', row => row.bytes, whole],
  ['lost', row => row.lost, whole],
  ['answered %', row => row.answered * 100, decimal],
  ['model calls/call', row => row.upstreamCalls, decimal],
  ['wait p50 ms', row => row.waitP50, whole],
  ['wait p95 ms', row => row.waitP95, whole],
  ['wait p99 ms', row => row.waitP99, whole],
  ['LOW still waiting', row => row.lowLeft, whole],
  ['refused by the provider', row => row.refused, whole],
  ['refused for', row => (row.refusedBy === 'none' ? undefined : row.refusedBy)],
  ['most in flight', row => row.peakInflight, whole],
  ['answers without Redis', row => row.local, whole],
  ['used %', row => row.used * 100, decimal],
  ['speed %', row => row.speed * 100, decimal],
];

/** What a report is about, and how its figures were taken. */
export const REPORTS = {
  gateway: { heading: 'The gateway against its floors', method: gatewayMethod },
  peers: { heading: 'Beside others', method: peersMethod },
  quota: {
    heading: 'The limits of a provider: kept, and used',
    method: quotaMethod,
  },
  survival: { heading: 'When something dies', method: survivalMethod },
};

/** Of the world, not of the machine's place in it. */
export function today() {
  return new Date().toISOString().slice(0, 10);
}

/** The report as Markdown. */
export function report(measurements, { heading, method }, settings) {
  const verdicts = measurements.flatMap(measurement => measurement.verdicts);
  return `${[
    `# ${heading}`,
    'Written by `npm run bench`. Absolute figures belong to the machine; ratios within one run are what counts.',
    machine(),
    method(settings),
    '## Targets',
    table(
      ['', 'target', 'measured', ''],
      verdicts.map(({ what, figure, target, met }) => [
        what,
        target,
        shown(figure),
        met === null ? 'undecided' : met ? 'met' : '**missed**',
      ]),
    ),
    ...reasons(verdicts.filter(({ met, madeOf }) => met === false && madeOf !== null)),
    ...measurements.flatMap(({ title, note, rows, measuredOn }) => [
      `## ${title}`,
      ...(note ? [note] : []),
      ...(measuredOn === today() ? [] : [`Measured on ${measuredOn}.`]),
      figures(rows),
    ]),
  ].join('\n\n')}\n`;
}

/** What the figures that miss their target consist of. */
function reasons(missed) {
  return missed.length === 0 ? [] : [missed.map(({ what, madeOf }) => `- **${what}**: ${madeOf}`).join('\n')];
}

function figures(rows) {
  const cellsOf = ([, read, format = String]) =>
    rows.map(row => {
      const value = read(row, rows[0]);
      return value === undefined || Number.isNaN(value) ? null : format(value);
    });
  const columns = COLUMNS.map(column => ({
    heading: column[0],
    cells: cellsOf(column),
  })).filter(({ cells }) => cells.some(cell => cell !== null));
  return table(
    columns.map(({ heading }) => heading),
    rows.map((_, index) => columns.map(({ cells }) => cells[index] ?? '')),
  );
}

function table(headings, rows) {
  const lines = [headings, headings.map((_, index) => (index === 0 ? ':--' : '--:')), ...rows];
  return lines.map(cells => `| ${cells.join(' | ')} |`).join('\n');
}

function shown(figure) {
  return figure >= 100 ? whole(figure) : decimal(figure);
}

function machine() {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const redis = /v=(\S+)/.exec(spawnSync('redis-server', ['--version'], { encoding: 'utf8' }).stdout ?? '')?.[1];
  const processors = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GB`;
  return table(
    ['', ''],
    [
      ['date', today()],
      ['Spillway', version],
      ['machine', `${processors.length} × ${processors[0]?.model.trim()}, ${memory}, ${platform()} ${release()}`],
      ['load before the run', decimal(loadBefore)],
      ['versions', `Node ${process.versions.node}, Redis ${redis ?? 'unknown'}`],
    ],
  );
}

function placed() {
  return cores === null
    ? 'Processes could not be pinned to cores (no `taskset`, or one core): load and server disturb each other.'
    : `What is measured runs on core ${cores.measured}; load, model and Redis run on core ${cores.load}.`;
}

function quotaMethod({ seconds }) {
  return [
    placed(),
    'The provider is the simulator, a process that keeps its limits exactly: by the moment at which a request arrives,',
    'and with the tokens that its answer will have. What it refuses is a mistake of Spillway. Limits have no headroom and',
    'every class may use all of them, unless a table says so. Nothing is asked before all processes have seen their Redis',
    'for three seconds. Where one does not see it later (answers without Redis), because a neighbour kept the core for a',
    'second (`redis.timeout_ms`, ten times what is shipped), refusals decide nothing: it then keeps its part of the limits by itself, which is not exact.',
    `Decisions: ${seconds} s each, 64 at a time where nothing else limits their rate; where their rate is given, a time`,
    'counts from the moment at which a decision was due.',
  ].join('\n');
}

function peersMethod({ windows, seconds, calls, waves }) {
  return [
    placed(),
    'All are processes of their own on the loopback address, and all of a table are measured in one run, taking turns.',
    `Rates: closed loop, ${windows} windows of ${seconds} s each, the median of those in which no call failed. Times: one`,
    `call at a time, ${windows} windows of ${calls} calls (a quarter of them for streams); what is added is the difference`,
    `to the direct call. Waves: ${windows} rounds of ${waves} waves each, every row with a model of its own.`,
    `\`@portkey-ai/gateway\` is ${PORTKEY} from npm, which starts only with hono 4.9.7 and @hono/node-server 1.13.5.`,
  ].join('\n');
}

function survivalMethod({ windows, calls, rounds, perSecond, seconds }) {
  return [
    placed(),
    `A dead first model: one call at a time, ${windows} windows of ${calls} calls for each route in turn. Recovery: ${rounds}`,
    `rounds. Everything else: an open loop of ${perSecond} CRITICAL calls a second for ${seconds} s, counted to the last; the`,
    'models are those of the simulator.',
  ].join('\n');
}

function gatewayMethod({ windows, seconds, calls, amount }) {
  return [
    placed(),
    'All are processes of their own on the loopback address; the log of the gateway goes to `/dev/null`.',
    `Rates: closed loop of 32 connections, ${windows} windows of ${seconds} s for each row in turn, the median of those`,
    `in which no call failed. Times: one call at a time, ${windows} windows of ${calls} calls for each row in turn (a`,
    `quarter of them for streams). Memory: ${whole(amount)} calls. CPU is that of the process, Redis apart; where other`,
    'programs take their part of the core (see “core busy”), calls per second of CPU are the steadier figure.',
  ].join('\n');
}
