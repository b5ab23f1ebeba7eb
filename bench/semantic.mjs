import { Agent } from 'node:http';
import { latency, post } from './load.mjs';
import { keptQuestion, QUESTIONS, rewordedQuestion } from './requests.mjs';
import { atMost } from './targets.mjs';

const ASKED_AT_ONCE = 16;

/** A question that was kept in other words, with the built-in embedder and index, against one kept in these words. */
export async function measureSemantic(scene, { windows, calls }) {
  const routes = { assistant: { chain: ['bench'] } };
  const alone = await scene.gateway({ routes });
  const withRedis = await scene.gateway({ routes, redis: await scene.redis() });
  for (const server of [alone, withRedis]) await fill(server);
  const targets = [
    { name: 'exact hit', server: alone, body: inTurn(keptQuestion) },
    { name: 'semantic hit', server: alone, body: inTurn(rewordedQuestion) },
    { name: 'exact hit, Redis', server: withRedis, body: inTurn(keptQuestion) },
    { name: 'semantic hit, Redis', server: withRedis, body: inTurn(rewordedQuestion) },
  ];
  const times = await latency(targets, { windows, calls });
  const rows = times.map((row, index) => ({ ...row, added: row.p50 - times[index - (index % 2)].p50 }));
  return {
    title: 'Semantic hit',
    note: `One call at a time; ${QUESTIONS} kept questions of one place, all of them much alike.`,
    rows,
    verdicts: [
      atMost('semantic hit: added p50 over an exact one, ms', rows[1].added, 2),
      atMost('semantic hit, Redis: added p50 over an exact one, ms', rows[3].added, 2),
    ],
  };
}

/** Has all questions kept, and makes sure that the reworded ones are found. */
async function fill({ port }) {
  const agent = new Agent({ keepAlive: true, maxSockets: ASKED_AT_ONCE });
  const ask = body =>
    post({ port, agent, body }, (response, resolve) => {
      response.resume().on('end', () => resolve(response.headers['x-spillway-cache']));
    });
  const indexes = Array.from({ length: QUESTIONS }, (_, index) => index);
  await Promise.all(indexes.map(index => ask(keptQuestion(index))));
  const found = await Promise.all(indexes.map(index => ask(rewordedQuestion(index))));
  agent.destroy();
  const missed = found.filter(cache => cache !== 'SEMANTIC_HIT').length;
  if (missed > 0) throw new Error(`${missed} of ${QUESTIONS} reworded questions were no semantic hit.`);
}

function inTurn(bodyOf) {
  let next = 0;
  return () => bodyOf(next++ % QUESTIONS);
}
