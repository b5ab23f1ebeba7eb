import { InvalidRequest, isJsonObject, type JsonObject, type JsonValue, type Operation } from '@spillway/contracts';

const DEEPEST_NESTING = 128;
const LONGEST_MODEL_NAME = 256;

/** @throws InvalidRequest where the body cannot be a call of this operation; unknown fields are none of our business. */
export function checkBody(body: unknown, operation: Operation): JsonObject {
  if (!isJsonObject(body)) throw new InvalidRequest('The body must be a JSON object.');
  if (isDeeperThan(body, DEEPEST_NESTING))
    throw new InvalidRequest(`The body is nested more than ${DEEPEST_NESTING} levels deep.`);
  const { model, messages, input, stream } = body;
  if (typeof model !== 'string' || model === '' || model.length > LONGEST_MODEL_NAME) {
    throw new InvalidRequest('model must be the name of a route or a model.', { param: 'model' });
  }
  if (stream !== undefined && stream !== null && typeof stream !== 'boolean') {
    throw new InvalidRequest('stream must be true or false.', { param: 'stream' });
  }
  if (operation === 'chat' && !(Array.isArray(messages) && messages.length > 0 && messages.every(isJsonObject))) {
    throw new InvalidRequest('messages must be a list of at least one message.', { param: 'messages' });
  }
  if (operation === 'embeddings' && (input === undefined || input === null)) {
    throw new InvalidRequest('input is required.', { param: 'input' });
  }
  return body;
}

function isDeeperThan(value: JsonValue | undefined, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const child of Object.values(value)) {
    if (typeof child === 'object' && isDeeperThan(child as JsonValue, levels - 1)) return true;
  }
  return false;
}
