import { isJsonObject, type JsonObject, type JsonValue, type ModelSettings } from '@spillway/contracts';

/** The text of a chat request for a model: the caller's body with the model's name and without router controls. */
export function chatBody(model: ModelSettings, body: JsonObject, streaming: boolean): string {
  const copy = copyFor(model, body);
  if (streaming !== (body['stream'] === true)) copy['stream'] = streaming;
  if (streaming && model.provider.stream_usage) {
    const asked = body['stream_options'];
    copy['stream_options'] = { ...(isJsonObject(asked) ? asked : {}), include_usage: true };
  }
  return wellFormed(JSON.stringify(copy));
}

/** The text of an embeddings request for a model. */
export function embeddingsBody(model: ModelSettings, body: JsonObject): string {
  return wellFormed(JSON.stringify(copyFor(model, body)));
}

function copyFor(model: ModelSettings, body: JsonObject): Record<string, JsonValue | undefined> {
  const copy: Record<string, JsonValue | undefined> = { ...body, model: model.upstream_model };
  delete copy['service_tier'];
  return copy;
}

/**
 * Replaces halves of surrogate pairs, which strict parsers refuse together with the whole body. `JSON.stringify`
 * escapes exactly those as `\udXXX`; the pattern also takes every other escape, so that `\\ud83d` stays what it is.
 */
function wellFormed(json: string): string {
  if (!json.includes('\\ud')) return json;
  return json.replace(/\\(?:ud[89a-f][0-9a-f]{2}|.)/g, escape => (escape.length > 2 ? '\\ufffd' : escape));
}
