import { pause } from './processes.mjs';

const AT_ONCE = 4;
const ROUTE = 'shop';
/** Nobody waits longer for a model that answers at once. */
const PATIENCE_MS = 30_000;
/** The simulator says what it was asked. */
const QUOTE = /You asked: (.*)$/s;

/** Seeds, has all visitors ask, and finds out what each answer was made for. */
export async function liveDay(spillway, model, { seeds, calls }) {
  const url = `http://127.0.0.1:${spillway.port}`;
  const seeded = await sow(url, seeds);
  const asked = await inParallel(calls, (question, index) => ask(url, question, `shop-${index}`));
  const answered = await modelCalls(model);
  const quality = await (await fetch(`${url}/admin/cache/quality`)).json();
  return { seeded, outcomes: outcomesOf(seeds, asked), modelCalls: answered - seeded.generated, quality };
}

async function sow(url, seeds) {
  const lines = seeds.map(({ scope, ...question }) => JSON.stringify({ scope, messages: messagesOf(question) }));
  const sent = await fetch(`${url}/admin/seed?route=${ROUTE}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson' },
    body: lines.join('\n'),
  });
  const { id } = await sent.json();
  for (;;) {
    const status = await (await fetch(`${url}/admin/seed/${id}`)).json();
    if (status.state === 'succeeded' && status.failed === 0) return status;
    if (!['queued', 'running'].includes(status.state)) throw new Error(`The seed ended so: ${JSON.stringify(status)}`);
    await pause(200);
  }
}

async function ask(url, question, id) {
  const startedAt = performance.now();
  const { response, body } = await post(url, question, id).catch(async error => {
    const explained = await fetch(`${url}/admin/explain/${id}`);
    throw new Error(`A call came to nothing: ${await explained.text()}`, { cause: error });
  });
  if (response.status !== 200) throw new Error(`A call was answered with ${response.status}.`);
  const cache = response.headers.get('x-spillway-cache');
  return {
    question,
    tier: cache === 'COALESCED' ? 'coalesced' : response.headers.get('x-spillway-cache-tier'),
    similarity: response.headers.get('x-spillway-similarity'),
    ms: performance.now() - startedAt,
    /** The question that the answer was made for. */
    madeFor: QUOTE.exec(body.choices[0].message.content)?.[1] ?? null,
  };
}

async function post(url, question, id) {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-spillway-scope': question.scope, 'x-request-id': id },
    body: JSON.stringify({ model: ROUTE, messages: messagesOf(question) }),
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  return { response, body: await response.json() };
}

function messagesOf({ system, text }) {
  return [
    { role: 'system', content: system },
    { role: 'user', content: text },
  ];
}

/**
 * An answer is right where a question of the same intent was asked in the same words on the page of the same product,
 * and a model answered it. An answer of another product, or to another question, is wrong.
 */
function outcomesOf(seeds, asked) {
  const made = new Map();
  const note = ({ scope, text, intent }) => made.set(`${scope}\n${text}`, intent);
  seeds.forEach(note);
  for (const { tier, question } of asked) if (tier === null) note(question);
  const worded = new Set(seeds.map(({ scope, text }) => `${scope}\n${text}`));
  return asked.map(({ question, madeFor, ...outcome }) => {
    const words = `${question.scope}\n${question.text}`;
    const isNew = !worded.has(words);
    worded.add(words);
    return {
      ...outcome,
      question,
      madeFor,
      isNew,
      right: made.get(`${question.scope}\n${madeFor}`) === question.intent,
    };
  });
}

async function modelCalls({ url }) {
  return (await (await fetch(`${url}/control/stats`)).json()).assistant.requests;
}

async function inParallel(items, work) {
  const results = [];
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const at = next++;
      results[at] = await work(items[at], at);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}
