import { defineScript } from '@spillway/redis';
import { ADMIT } from './admit.lua';
import { BEAT } from './beat.lua';
import { CATCH_UP } from './catch-up.lua';
import { ENTER } from './enter.lua';
import { EXPLAIN } from './explain.lua';
import { FOLLOW } from './follow.lua';
import { INSPECT } from './inspect.lua';
import { LIST_WAITS } from './list-waits.lua';
import { REACH } from './reach.lua';
import { REBOOK } from './rebook.lua';
import { RELEASE } from './release.lua';
import { RENEW } from './renew.lua';
import { SPARE } from './spare.lua';
import { SURVEY } from './survey.lua';
import { SWEEP } from './sweep.lua';
import { WITHDRAW } from './withdraw.lua';

/** Every key of the permits, in the order of the scripts; one hash tag, so that a cluster keeps them together. */
export function keysOf(prefix: string): readonly string[] {
  const names = ['law', 'tickets', 'waits', 'reached', 'leases', 'workers', 'critical', 'normal', 'low', 'buckets'];
  return names.map(name => `{${prefix}}:${name}`);
}

const script = (name: string, lua: string): ReturnType<typeof defineScript> => defineScript(name, lua, 10);

export const SCRIPTS = {
  enter: script('enter', ENTER),
  spare: script('spare', SPARE),
  reach: script('reach', REACH),
  beat: script('beat', BEAT),
  withdraw: script('withdraw', WITHDRAW),
  release: script('release', RELEASE),
  rebook: script('rebook', REBOOK),
  renew: script('renew', RENEW),
  inspect: script('inspect', INSPECT),
  listWaits: script('list-waits', LIST_WAITS),
  explain: script('explain', EXPLAIN),
  survey: script('survey', SURVEY),
  follow: script('follow', FOLLOW),
  catchUp: script('catch-up', CATCH_UP),
  admit: script('admit', ADMIT),
  sweep: script('sweep', SWEEP),
};
