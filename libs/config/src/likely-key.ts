import { isJsonObject } from '@spillway/contracts';
import distance from 'damerau-levenshtein';
import { z } from 'zod';
import type { Path } from './configuration-error';

/** Letters of a name in which one may differ by one: missing, too many, another, or in the wrong order. */
const LETTERS_PER_MISTAKE = 3;

/**
 * The key that was probably meant by an unknown one.
 * @param schema of the whole file
 * @param parent path of the map that the key is in
 */
export function likelyKey(schema: z.ZodType, parent: Path, key: string): string | undefined {
  const meant = plain(key);
  const [nearest] = keysAt(z.toJSONSchema(schema, { io: 'input' }), parent)
    .map(known => ({ known, mistakes: distance(meant, plain(known)).steps }))
    .sort((one, other) => one.mistakes - other.mistakes);
  const most = Math.max(1, Math.floor(meant.length / LETTERS_PER_MISTAKE));
  return nearest !== undefined && nearest.mistakes <= most ? nearest.known : undefined;
}

/** `maxWaitMs` and `max-wait-ms` mean `max_wait_ms`. */
function plain(key: string): string {
  return key.toLowerCase().replace(/[_-]/g, '');
}

function keysAt(schema: unknown, path: Path): string[] {
  const inner = path.reduce(stepInto, schema);
  return variantsOf(inner).flatMap(({ properties }) => Object.keys(Object(properties)));
}

function stepInto(schema: unknown, segment: PropertyKey): unknown {
  const found = variantsOf(schema).flatMap(({ properties, additionalProperties, items }) => {
    if (typeof segment === 'number') return [items];
    return isJsonObject(properties) ? [properties[String(segment)]] : [additionalProperties];
  });
  return { anyOf: found.filter(isJsonObject) };
}

function variantsOf(schema: unknown): Record<string, unknown>[] {
  if (!isJsonObject(schema)) return [];
  const { anyOf } = schema;
  return Array.isArray(anyOf) ? anyOf.flatMap(variantsOf) : [schema];
}
