import { isJsonObject, type JsonObject, type JsonValue } from '@spillway/contracts';

const NOTHING: ReadonlySet<string> = new Set();

/**
 * JSON text that is the same for all objects with the same fields, whatever their order. Absent fields stay absent:
 * neither null nor a default.
 */
export function canonicalJson(object: JsonObject, without: ReadonlySet<string> = NOTHING): string {
  const names = Object.keys(object);
  if (!isSorted(names)) names.sort();
  let text = '';
  for (const name of names) {
    const value = object[name];
    if (value === undefined || without.has(name)) continue;
    text += `${text === '' ? '{' : ','}${JSON.stringify(name)}:${canonical(value)}`;
  }
  return text === '' ? '{}' : `${text}}`;
}

function canonical(value: JsonValue): string {
  if (isJsonObject(value)) return canonicalJson(value);
  if (Array.isArray(value)) return canonicalList(value);
  // Escapes lone surrogates, which would all be the same bytes in UTF-8.
  return JSON.stringify(value);
}

function canonicalList(values: readonly JsonValue[]): string {
  let text = '[';
  for (const value of values) text += `${text === '[' ? '' : ','}${canonical(value)}`;
  return `${text}]`;
}

function isSorted(names: readonly string[]): boolean {
  for (let index = 1; index < names.length; index++) {
    if ((names[index - 1] ?? '') > (names[index] ?? '')) return false;
  }
  return true;
}
