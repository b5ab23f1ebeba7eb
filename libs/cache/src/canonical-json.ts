import type { JsonObject, JsonValue } from '@spillway/contracts';

const NOTHING: ReadonlySet<string> = new Set();

/**
 * JSON text that is the same for all objects with the same fields, whatever their order. Absent fields stay absent:
 * neither null nor a default. Lone surrogates, which would all be the same bytes in UTF-8, are escaped.
 */
export function canonicalJson(object: JsonObject, without: ReadonlySet<string> = NOTHING): string {
  // In order first and then written as a whole: a text that grows field by field takes several times as long.
  return JSON.stringify(objectInOrder(object, without));
}

function inOrder(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  return isList(value) ? listInOrder(value) : objectInOrder(value, NOTHING);
}

/** The same object where it is in order already. */
function objectInOrder(object: JsonObject, without: ReadonlySet<string>): JsonObject {
  const names = Object.keys(object);
  let isInOrder = without.size === 0 && isSorted(names);
  if (!isInOrder) names.sort();
  // Without a prototype, as a field may be called `__proto__`.
  const ordered = Object.create(null) as Record<string, JsonValue>;
  for (const name of names) {
    const value = object[name];
    if (value === undefined || without.has(name)) continue;
    const inside = inOrder(value);
    if (inside !== value) isInOrder = false;
    ordered[name] = inside;
  }
  return isInOrder ? object : ordered;
}

function listInOrder(list: readonly JsonValue[]): readonly JsonValue[] {
  let ordered: JsonValue[] | null = null;
  for (const [index, value] of list.entries()) {
    const inside = inOrder(value);
    if (inside !== value) (ordered ??= [...list])[index] = inside;
  }
  return ordered ?? list;
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function isSorted(names: readonly string[]): boolean {
  for (let index = 1; index < names.length; index++) {
    if ((names[index - 1] ?? '') > (names[index] ?? '')) return false;
  }
  return true;
}
