import { isJsonObject, type JsonObject, type JsonValue, type Operation } from '@spillway/contracts';
import { InputMeasure } from './input-measure';
import { imageTokens, mediaTokens } from './media';
import { measureText } from './measure-text';

/** What a chat template puts around a message (its role included), and before the answer. */
const TOKENS_PER_MESSAGE = 4;
const TOKENS_BEFORE_ANSWER = 3;

/** In what is not text, a longer string is the content of a file: its characters say little about its tokens. */
const LONGEST_LABEL = 1000;

/** Parts of a message that the model is not shown, or that its role accounts for. */
const UNSEEN = new Set(['role', 'id', 'tool_call_id', 'type', 'cache_control']);

/** Estimated input tokens of a request before any correction: at least 1, linear in the size of the body. */
export function estimateInput(body: JsonObject, operation: Operation): number {
  return measureInput(body, operation).total();
}

/** Takes the input of a request apart by class. Never throws: what it does not know, it counts as text. */
export function measureInput(body: JsonObject, operation: Operation): InputMeasure {
  const measure = new InputMeasure();
  switch (operation) {
    case 'chat':
      measureChat(body, measure);
      return measure;
    case 'embeddings':
      measureEmbeddingInput(body.input, measure);
      return measure;
    default:
      return operation satisfies never;
  }
}

function measureChat(body: JsonObject, measure: InputMeasure): void {
  measure.add('frame', TOKENS_BEFORE_ANSWER);
  if (Array.isArray(body.messages)) for (const message of body.messages) measureMessage(message, measure);
  measureStructure(body.tools, measure);
  measureStructure(body.functions, measure);
  if (isJsonObject(body.response_format)) measureStructure(body.response_format.json_schema, measure);
}

function measureMessage(message: JsonValue, measure: InputMeasure): void {
  measure.add('frame', TOKENS_PER_MESSAGE);
  if (!isJsonObject(message)) return measureStructure(message, measure);
  for (const [name, value] of Object.entries(message)) {
    if (UNSEEN.has(name)) continue;
    if (typeof value === 'string') measureText(value, measure);
    else if (name === 'content' && Array.isArray(value)) for (const part of value) measurePart(part, measure);
    else measureStructure(value, measure);
  }
}

function measurePart(part: JsonValue, measure: InputMeasure): void {
  if (!isJsonObject(part)) return measureStructure(part, measure);
  const { text, image_url: image, input_audio: audio, file } = part;
  if (typeof text === 'string') measureText(text, measure);
  else if (image !== undefined) measure.add('media', imageTokens(image));
  else if (isJsonObject(audio)) measure.add('media', mediaTokens(audio.data, audio.format));
  else if (isJsonObject(file)) measure.add('media', mediaTokens(file.file_data ?? file.file_id, 'file'));
  else measureStructure(part, measure, LONGEST_LABEL);
}

/** Text, texts, token ids, or lists of token ids. */
function measureEmbeddingInput(input: JsonValue | undefined, measure: InputMeasure): void {
  if (typeof input === 'string') measureText(input, measure);
  else if (Array.isArray(input))
    for (const item of input) {
      if (typeof item === 'string') measureText(item, measure);
      else measure.add('frame', Array.isArray(item) ? item.length : 1);
    }
}

/** Counts names and values of any JSON. A list of its own instead of recursion, since callers choose the depth. */
function measureStructure(root: JsonValue | undefined, measure: InputMeasure, longestText = Infinity): void {
  const open: (JsonValue | undefined)[] = [root];
  while (open.length > 0) {
    const value = open.pop();
    if (value === undefined || value === null) continue;
    if (typeof value === 'string') {
      if (value.length <= longestText) measureText(value, measure);
      else measure.add('media', mediaTokens(value, 'file'));
      continue;
    }
    measure.add('frame', 1);
    if (typeof value !== 'object') continue;
    if (isJsonObject(value)) for (const name of Object.keys(value)) measureText(name, measure);
    for (const inner of Object.values<JsonValue | undefined>(value)) open.push(inner);
  }
}
