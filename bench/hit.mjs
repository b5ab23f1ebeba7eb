import { throughput } from './load.mjs';
import { chatBody } from './requests.mjs';
import { atLeast, undecidedUnless } from './targets.mjs';

/** Share of its core; below it a rate says what the load or other programs left over, not what the server can do. */
const FULLY_BUSY = 0.9;

/** From profiles and runs without a log, on a busy machine: each part is good for a few µs. */
const MADE_OF =
  'of some 34 µs where the floor took 19 (2026-11-30): the bare server without parsing 15, head and hash of the request 4, ' +
  'headers 3, facts and ids 4, metrics 2, the log line 4.';

/** An exact hit from the cache in the process, against a bare server of the same JSON. */
export async function measureHit(scene, { windows, seconds }) {
  const body = chatBody();
  const targets = [
    { name: 'node:http + JSON (floor)', server: await scene.yardstick('floor') },
    { name: 'Spillway, exact hit', server: await scene.gateway() },
  ];
  const rows = await throughput(targets, { windows, seconds, body });
  const [floor, hit] = rows;
  return {
    title: 'Exact hit',
    rows,
    verdicts: [
      undecidedUnless(
        rows.every(({ busy }) => busy >= FULLY_BUSY),
        atLeast('exact hit: throughput ÷ floor', hit.perSecond / floor.perSecond, 0.6),
      ),
      atLeast('exact hit: calls per CPU second ÷ floor', floor.cpu / hit.cpu, 0.6, MADE_OF),
    ],
  };
}
