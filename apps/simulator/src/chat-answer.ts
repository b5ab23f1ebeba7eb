import type { JsonObject } from '@spillway/contracts';
import { logNormal, type Random } from './random';
import type { Fault, SimulatedModel, TokenSpread } from './settings';
import { lastUserText, piecesOf } from './tokens';

const DISCLAIMER = "This is Spillway's simulator, not a real model.";
const LONGEST_ECHO = 400;
const REPEATED = ['The', ' simulator', ' repeats', ' itself', '. '];
const SHORT_SHARE = 0.3;
// Enough words that three in a row hardly ever come twice: an answer of any length must not look like a repetitive one.
const FILLER = (
  'amber basin canal delta ember field glade harbor island jetty kettle lantern meadow needle orchard pebble quarry ' +
  'river sluice timber upland valley willow yarrow anchor bridge copper dune estuary ferry gravel hollow inlet juniper ' +
  'keel ledge marsh north oak pier reed shore tide vessel weir axle birch cove dock elm fjord grove heron iris lagoon'
)
  .split(' ')
  .map(word => ` ${word}`);

export interface ChatAnswer {
  /** The text, a piece a token. */
  readonly pieces: readonly string[];
  /** null: the answer ends without a reason. */
  readonly finish: 'stop' | 'length' | 'content_filter' | null;
}

/** What the model says: decided before it is admitted, so that its tokens can be booked exactly. */
export function composeAnswer(body: JsonObject, settings: SimulatedModel['answer'], random: Random): ChatAnswer {
  const said =
    settings.mode === 'lengths'
      ? filler(opening(body, settings), settings.tokens, random)
      : piecesOf(textOf(body, settings));
  const whole = cutAtStop(said, body['stop']);
  const most = maxTokens(body);
  return whole.length > most ? { pieces: whole.slice(0, most), finish: 'length' } : { pieces: whole, finish: 'stop' };
}

/** What a fault of quality makes of an answer; never more tokens than were booked. */
export function spoilAnswer(answer: ChatAnswer, fault: Fault | null): ChatAnswer {
  const { pieces } = answer;
  switch (fault?.kind) {
    case 'empty':
      return { pieces: [], finish: 'stop' };
    case 'short':
      return { pieces: pieces.slice(0, Math.ceil(pieces.length * SHORT_SHARE)), finish: 'stop' };
    case 'content-filter':
      return { pieces: pieces.slice(0, Math.ceil(pieces.length * SHORT_SHARE)), finish: 'content_filter' };
    case 'no-finish':
      return { pieces, finish: null };
    case 'repeat':
      return { ...answer, pieces: pieces.map((_, index) => REPEATED[index % REPEATED.length] ?? '') };
    default:
      return answer;
  }
}

function textOf(body: JsonObject, settings: SimulatedModel['answer']): string {
  return settings.mode === 'fixed' ? settings.text : echoOf(body);
}

/** How an answer of a drawn length begins: a quote is said whole, however short the answer was to be. */
function opening(body: JsonObject, settings: SimulatedModel['answer']): Opening {
  return settings.quote
    ? { pieces: piecesOf(`${echoOf(body)}\n`), isWhole: true }
    : { pieces: piecesOf(DISCLAIMER), isWhole: false };
}

function echoOf(body: JsonObject): string {
  const asked = lastUserText(body);
  if (asked === '') return DISCLAIMER;
  // A cut must not leave half of a surrogate pair behind.
  const clipped =
    asked.length > LONGEST_ECHO ? `${asked.slice(0, LONGEST_ECHO).replace(/[\ud800-\udbff]$/, '')}…` : asked;
  return `${DISCLAIMER} You asked: ${clipped}`;
}

interface Opening {
  readonly pieces: readonly string[];
  readonly isWhole: boolean;
}

function filler(opening: Opening, spread: TokenSpread, random: Random): string[] {
  const count = lengthOf(spread, random);
  const pieces = opening.isWhole ? [...opening.pieces] : opening.pieces.slice(0, count);
  while (pieces.length < count) pieces.push(FILLER[Math.floor(random() * FILLER.length)] ?? '');
  return pieces;
}

/** A number of tokens out of a spread. */
export function lengthOf(spread: TokenSpread, random: Random): number {
  if (typeof spread === 'number') return Math.round(spread);
  const { min, max, lognormal } = spread;
  const drawn = lognormal ? logNormal(random, lognormal.median, lognormal.sigma) : min + random() * (max - min);
  return Math.round(Math.min(max, Math.max(min, drawn)));
}

function cutAtStop(pieces: readonly string[], stop: unknown): readonly string[] {
  const stops = (Array.isArray(stop) ? stop : [stop]).filter(item => typeof item === 'string' && item !== '');
  if (stops.length === 0) return pieces;
  const text = pieces.join('');
  const ends = stops.map(item => text.indexOf(item as string)).filter(index => index >= 0);
  return ends.length === 0 ? pieces : piecesOf(text.slice(0, Math.min(...ends)));
}

function maxTokens(body: JsonObject): number {
  const asked = body['max_completion_tokens'] ?? body['max_tokens'];
  return typeof asked === 'number' && asked >= 1 ? Math.floor(asked) : Infinity;
}
