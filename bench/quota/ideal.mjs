import { createRequire } from 'node:module';

const { ModelLimits } = createRequire(import.meta.url)('../../dist/apps/simulator/src/limits.js');

/**
 * When the limits themselves let a call in within `seconds` of endless demand, in ms, if each is sent the moment it fits
 * and lasts `callMs`: what a gateway can reach at most. `tokens`: of a call. `rates`: how many calls a second want in
 * until that second, where demand is not endless.
 */
export function idealCalls(settings, { seconds, callMs = 0, tokens, rates = [] }) {
  const clock = { time: 1_000_000, now: () => clock.time };
  const limits = new ModelLimits(settings, clock);
  const ends = [];
  const times = [];
  const startedAt = clock.time;
  let wanted = 0;
  for (let ms = 0; ms < seconds * 1000; ms++) {
    clock.time = startedAt + ms;
    for (; ends.length > 0 && ends[0] <= clock.time; ends.shift()) limits.release();
    const rate = rates.find(({ until }) => ms < until * 1000)?.perSecond;
    wanted = rate === undefined ? Infinity : Math.min(wanted, 1) + rate / 1000;
    for (; wanted >= 1 && limits.admit(tokens).admitted; wanted--) {
      ends.push(clock.time + callMs);
      times.push(ms);
    }
  }
  return times;
}
