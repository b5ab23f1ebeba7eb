import { Reading, Span } from './metrics.js';
import { KeyNeeded, adminKey, explain, look } from './server.js';
import * as views from './views.js';

const EVERY_MS = 1_500;
/** Rates are taken over so many looks, so that they do not jump. */
const SPAN_LOOKS = 4;
const HISTORY_LOOKS = 80;

const byId = id => document.getElementById(id);
const readings = [];
const history = [];
let isPaused = false;

function show(id, elements) {
  byId(id).replaceChildren(...elements);
}

function tell(text, kind) {
  const health = byId('health');
  if (health.textContent !== text) health.textContent = text;
  health.className = `pill ${kind}`;
}

function showAll({ status, ready, queues, metrics }) {
  const reading = new Reading(metrics, performance.now());
  readings.push(reading);
  if (readings.length > SPAN_LOOKS + 1) readings.shift();
  const span = new Span(readings.length > 1 ? readings[0] : null, reading);
  history.push(span.rate('spillway_requests_total'));
  if (history.length > HISTORY_LOOKS) history.shift();
  const seen = { status, queues, span, history };
  for (const part of ['tiles', 'classes', 'outcomes', 'caches', 'models']) show(part, views[part](seen));
  show('tickets', views.queues(seen));
  const parts = Object.entries(ready.parts).map(([name, state]) => `${name} ${state}`);
  byId('parts').textContent = parts.join(' · ');
  tell(ready.status, ready.status === 'ok' ? 'good' : 'warn');
  byId('updated').textContent = `as of ${new Date().toLocaleTimeString()}`;
}

function askForKey(problem) {
  byId('login').hidden = false;
  byId('content').hidden = true;
  byId('login-problem').textContent = problem;
  tell('key needed', 'warn');
  byId('key').focus();
}

/** False: it goes on once there is a key. */
async function refresh() {
  try {
    showAll(await look());
    byId('login').hidden = true;
    byId('content').hidden = false;
    byId('forget').hidden = adminKey.get() === null;
    return true;
  } catch (error) {
    if (error instanceof KeyNeeded) {
      adminKey.forget();
      askForKey(error.message);
      return false;
    }
    tell(`no answer: ${error.message}`, 'bad');
    return true;
  }
}

async function run() {
  if (isPaused || document.hidden || (await refresh())) setTimeout(run, EVERY_MS);
}

byId('login').addEventListener('submit', event => {
  event.preventDefault();
  adminKey.set(byId('key').value);
  byId('key').value = '';
  void run();
});

byId('forget').addEventListener('click', () => {
  adminKey.forget();
  location.reload();
});

byId('pause').addEventListener('click', ({ currentTarget }) => {
  isPaused = !isPaused;
  currentTarget.setAttribute('aria-pressed', String(isPaused));
  currentTarget.textContent = isPaused ? 'Go on' : 'Pause';
});

byId('explain').addEventListener('submit', async event => {
  event.preventDefault();
  const id = byId('request-id').value.trim();
  try {
    const told = await explain(id);
    show('explanation', told === null ? ['No process knows this request id (any more).'] : views.explanation(told));
  } catch (error) {
    show('explanation', [`No answer: ${error.message}`]);
  }
});

if (location.hash === '#queues') byId('queues').focus();
void run();
