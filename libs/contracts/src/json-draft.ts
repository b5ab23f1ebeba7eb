import { isJsonObject, type JsonObject, type JsonValue } from './json';

type DraftValue = string | number | boolean | null | JsonValue[] | JsonDraft;

/** Names a thing rather than saying a part of a text, so it is never streamed in pieces. */
const IDENTITY = new Set(['id', 'type', 'name', 'role', 'object']);

/** What the drafts of one document found out while they grew. */
export interface Findings {
  /** False once two pieces contradicted each other. */
  faithful: boolean;
  /** Characters of text and of list items taken in. */
  characters: number;
}

/**
 * A JSON object that grows by pieces. Lists grow at their end, objects field by field; strings continue each other
 * where `texts` says so and else, like everything that identifies, are set once. Null says nothing.
 */
export class JsonDraft {
  // A map, as a field may be called `__proto__`.
  private readonly fields = new Map<string, DraftValue>();

  constructor(
    private readonly findings: Findings,
    private readonly strings: 'continue' | 'stay',
  ) {}

  add(piece: JsonObject, without?: ReadonlySet<string>): void {
    for (const name of Object.keys(piece)) {
      const value = piece[name];
      if (value !== undefined && !without?.has(name)) this.put(name, value);
    }
  }

  get(name: string): unknown {
    return this.fields.get(name);
  }

  toJson(): JsonObject {
    return Object.fromEntries(Array.from(this.fields, ([name, value]) => [name, jsonOf(value)]));
  }

  private put(name: string, value: JsonValue): void {
    const known = this.fields.get(name);
    if (known === undefined || known === null) this.fields.set(name, this.begin(value));
    else if (value !== null) this.continue(name, known, value);
  }

  private begin(value: JsonValue): DraftValue {
    if (typeof value === 'string') this.findings.characters += value.length;
    if (isList(value)) return this.extended([], value);
    if (!isJsonObject(value)) return value;
    const draft = new JsonDraft(this.findings, this.strings);
    draft.add(value);
    return draft;
  }

  private continue(name: string, known: DraftValue, value: JsonValue): void {
    if (known instanceof JsonDraft && isJsonObject(value)) known.add(value);
    else if (Array.isArray(known) && isList(value)) this.extended(known, value);
    else if (typeof known === 'string' && typeof value === 'string')
      this.fields.set(name, this.said(name, known, value));
    else if (known !== value) this.findings.faithful = false;
  }

  private said(name: string, known: string, more: string): string {
    if (this.strings === 'continue' && !IDENTITY.has(name)) {
      this.findings.characters += more.length;
      return known + more;
    }
    if (known !== '' && more !== '' && known !== more) this.findings.faithful = false;
    return known === '' ? more : known;
  }

  private extended(list: JsonValue[], items: readonly JsonValue[]): JsonValue[] {
    for (const item of items) list.push(item);
    this.findings.characters += JSON.stringify(items).length;
    return list;
  }
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function jsonOf(value: DraftValue): JsonValue {
  return value instanceof JsonDraft ? value.toJson() : value;
}
