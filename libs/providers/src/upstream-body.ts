import { exactJson, isJsonObject, type JsonObject, type JsonValue, type ModelSettings } from '@spillway/contracts';

/** The text of a chat request for a model: the caller's body with the model's name and without router controls. */
export function chatBody(model: ModelSettings, body: JsonObject, streaming: boolean): string {
  const copy = copyFor(model, body);
  if (streaming !== (body['stream'] === true)) copy['stream'] = streaming;
  if (streaming && model.provider.stream_usage) {
    const asked = body['stream_options'];
    copy['stream_options'] = { ...(isJsonObject(asked) ? asked : {}), include_usage: true };
  }
  return exactJson(copy);
}

/** The text of an embeddings request for a model. */
export function embeddingsBody(model: ModelSettings, body: JsonObject): string {
  return exactJson(copyFor(model, body));
}

function copyFor(model: ModelSettings, body: JsonObject): Record<string, JsonValue | undefined> {
  const copy: Record<string, JsonValue | undefined> = { ...body, model: model.upstream_model };
  delete copy['service_tier'];
  return copy;
}
