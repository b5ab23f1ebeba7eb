import { Agent, request as httpRequest } from 'node:http';
import autocannon from 'autocannon';
import { cpuMicroseconds, pause } from './processes.mjs';
import { median, percentile } from './statistics.mjs';

const PATH = '/v1/chat/completions';
const CONNECTIONS = 32;
const WARM_UP_S = 3;
const HEADERS = { 'content-type': 'application/json', authorization: 'Bearer bench' };

/**
 * Closed loop: each connection asks again as soon as it has its answer. Takes `windows` of `seconds` from every target
 * in turn, and keeps the median of those in which no call failed.
 */
export async function throughput(targets, { windows, seconds, ...asking }) {
  const taken = new Map(targets.map(target => [target, []]));
  for (const target of targets) await load(target, { duration: WARM_UP_S }, asking);
  for (let window = 0; window < windows; window++) {
    for (const target of targets) taken.get(target).push(await load(target, { duration: seconds }, asking));
  }
  return targets.map(target => summary(target, taken.get(target)));
}

function summary(target, windows) {
  const valid = windows.filter(window => window.failed === 0);
  const middle = read => median(valid.map(read));
  return {
    name: target.name,
    valid: valid.length,
    windows: windows.length,
    perSecond: middle(window => window.perSecond),
    cpu: middle(window => window.cpu),
    busy: middle(window => window.busy),
    redisCpu: middle(window => window.redisCpu),
  };
}

/** Loads a target for a `duration` in seconds or an `amount` of calls. `body`: a text, or what makes one. */
export async function load({ server, redis, headers }, limit, { body }) {
  const beside = [server, redis].map(one => (one ? cpuMicroseconds(one.pid) : null));
  const result = await autocannon({
    url: `http://127.0.0.1:${server.port}${PATH}`,
    method: 'POST',
    headers: { ...HEADERS, ...headers },
    connections: CONNECTIONS,
    timeout: 30,
    ...limit,
    ...(typeof body === 'function'
      ? { requests: [{ setupRequest: request => ({ ...request, body: body() }) }] }
      : { body }),
  });
  const [cpu, redisCpu] = [server, redis].map((one, index) =>
    one ? (cpuMicroseconds(one.pid) - beside[index]) / result['2xx'] : NaN,
  );
  // What is still under way when the window closes must not run into the next one.
  await pause(100);
  return {
    failed: result.errors + result.timeouts + result.non2xx,
    perSecond: result['2xx'] / result.duration,
    cpu,
    redisCpu,
    busy: (cpu * result['2xx']) / (result.duration * 1_000_000),
  };
}

/**
 * Milliseconds of one call at a time, the targets taking turns; the median over the windows of their percentiles. A
 * target may have bodies of its own.
 */
export async function latency(targets, { windows, calls, body, measure = wholeAnswer }) {
  const clients = targets.map(target => ({
    target,
    agent: new Agent({ keepAlive: true, maxSockets: 1 }),
    windows: [],
  }));
  for (let window = -1; window < windows; window++) {
    const times = clients.map(() => []);
    for (let call = 0; call < calls; call++) {
      for (const [index, { target, agent }] of clients.entries()) {
        const made = (target.body ?? body)();
        times[index].push(await measure({ port: target.server.port, headers: target.headers, agent, body: made }));
      }
    }
    // The first window is for warming up.
    if (window < 0) continue;
    for (const [index, client] of clients.entries()) client.windows.push(times[index]);
  }
  for (const { agent } of clients) agent.destroy();
  return clients.map(({ target, windows: taken }) => ({
    name: target.name,
    p50: median(taken.map(times => percentile(times, 0.5))),
    p99: median(taken.map(times => percentile(times, 0.99))),
  }));
}

/** Milliseconds until the answer is there. @throws on anything but a 200 */
function wholeAnswer(call) {
  const startedAt = performance.now();
  return post(call, (response, resolve) => {
    response.resume().on('end', () => resolve(performance.now() - startedAt));
  });
}

/** Posts a call; `read` gets the response of a 200 and resolves. */
export function post({ port, agent, body, headers: more }, read) {
  return new Promise((resolve, reject) => {
    const headers = { ...HEADERS, ...more, 'content-length': Buffer.byteLength(body) };
    const request = httpRequest({ port, host: '127.0.0.1', path: PATH, method: 'POST', agent, headers }, response => {
      response.on('error', reject);
      if (response.statusCode === 200) read(response, resolve);
      else reject(new Error(`A call was answered with ${response.statusCode}.`));
    });
    request.on('error', reject).end(body);
  });
}
