import { throughput } from './load.mjs';
import { chatBody } from './requests.mjs';
import { atLeast } from './targets.mjs';

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
    verdicts: [atLeast('exact hit: throughput ÷ floor', hit.perSecond / floor.perSecond, 0.6)],
  };
}
