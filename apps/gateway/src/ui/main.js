import { Reading, Span } from './metrics.js';
import { KeyNeeded, adminKey, explain, look } from './server.js';
import { caches, classes, explanation, models, outcomes, queues, tiles } from './views.js';

const EVERY_MS = 1_500;
/** Rates are taken over so many looks, so that they do not jump. */
const SPAN_LOOKS = 4;
const HISTORY_LOOKS = 80;

const byId = id => document.getElementById(id);
const SECTIONS = { tiles, classes, outcomes, caches, models, tickets: queues };
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

function showAll({ status, ready, metrics, queues: waits }) {
  const reading = new Reading(metrics, performance.now());
  readings.push(reading);
  if (readings.length > SPAN_LOOKS + 1) readings.shift();
  const span = new Span(readings.length > 1 ? readings[0] : null, reading);
  history.push(span.rate('spillway_requests_total'));
  if (history.length > HISTORY_LOOKS) history.shift();
  const seen = { status, queues: waits, span, history };
  for (const [id, view] of Object.entries(SECTIONS)) show(id, view(seen));
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
  if (isPaused || document.hidden || (await refresh())) setTimeout(() => void run(), EVERY_MS);
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

async function showExplanation(id) {
  try {
    const told = await explain(id);
    show('explanation', told === null ? ['No process knows this request id (any more).'] : explanation(told));
  } catch (error) {
    show('explanation', [`No answer: ${error.message}`]);
  }
}

byId('explain').addEventListener('submit', event => {
  event.preventDefault();
  void showExplanation(byId('request-id').value.trim());
});

if (location.hash === '#queues') byId('queues').focus();
void run();
