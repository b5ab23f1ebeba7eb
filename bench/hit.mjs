import { throughput } from './load.mjs';
import { chatBody } from './requests.mjs';
import { atLeast, undecidedUnless } from './targets.mjs';

/** Share of its core; below it a rate says what the load or other programs left over, not what the server can do. */
const FULLY_BUSY = 0.9;

const MADE_OF =
  'both spend most of it in the system call that sends the answer. What the hit does beyond the floor: ' +
  '[What a call costs](../architecture.md#what-a-call-costs).';

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
