import { isJsonObject, type JsonObject, type JsonValue } from './json';
import { JsonDraft, type Findings } from './json-draft';

export interface AssembledCompletion {
  readonly body: JsonObject;
  /** False where the chunks contradict each other, so that the body may say something the stream did not. */
  readonly faithful: boolean;
}

/** Fields of a chunk that are handled by name, or exist for the stream alone. */
const NOT_OF_THE_WHOLE = new Set(['object', 'choices', 'obfuscation']);
const OF_THE_CHOICE = new Set(['index', 'delta', 'message', 'finish_reason']);
const TOOL_CALLS = new Set(['tool_calls']);
const INDEX = new Set(['index']);

/** Grows the whole completion that says the same as the chunks of a stream, in memory of the size of the whole. */
export class CompletionAssembly {
  private readonly findings: Findings = { faithful: true, characters: 0 };
  private readonly top = new Map<string, JsonValue>([['object', 'chat.completion']]);
  private readonly choices = new Map<number, ChoiceAssembly>();

  /** Characters of text and of list items so far: the size of the whole but for its frame. */
  get characters(): number {
    return this.findings.characters;
  }

  add(chunk: JsonObject): void {
    for (const name of Object.keys(chunk)) {
      const value = chunk[name];
      if (value === undefined || NOT_OF_THE_WHOLE.has(name)) continue;
      if (!isEmpty(value) || !this.top.has(name)) this.top.set(name, value);
    }
    if (!isEmpty(chunk['error'])) this.findings.faithful = false;
    for (const choice of listOf(chunk['choices'])) this.addChoice(choice);
  }

  result(): AssembledCompletion {
    const choices = Array.from(this.choices)
      .sort(([one], [other]) => one - other)
      .map(([index, choice]) => choice.toJson(index));
    return { body: Object.fromEntries([...this.top, ['choices', choices]]), faithful: this.findings.faithful };
  }

  private addChoice(piece: JsonValue): void {
    if (!isJsonObject(piece)) {
      this.findings.faithful = false;
      return;
    }
    const index = typeof piece['index'] === 'number' ? piece['index'] : 0;
    let choice = this.choices.get(index);
    if (choice === undefined) this.choices.set(index, (choice = new ChoiceAssembly(this.findings)));
    choice.add(piece);
  }
}

class ChoiceAssembly {
  private readonly message: JsonDraft;
  private readonly rest: JsonDraft;
  private readonly toolCalls: ToolCallsAssembly;
  private finishReason: JsonValue = null;

  constructor(private readonly findings: Findings) {
    this.message = new JsonDraft(findings, 'continue');
    this.rest = new JsonDraft(findings, 'stay');
    this.toolCalls = new ToolCallsAssembly(findings);
  }

  add(piece: JsonObject): void {
    const { delta, finish_reason: finishReason } = piece;
    if (isJsonObject(delta)) {
      const calls = listOf(delta['tool_calls']);
      for (const call of calls) this.toolCalls.add(call);
      this.message.add(delta, calls.length > 0 ? TOOL_CALLS : undefined);
    }
    // A whole message beside the deltas: nobody can tell whether it repeats or continues them.
    if (piece['message'] !== undefined) this.findings.faithful = false;
    if (!isEmpty(finishReason)) this.finishReason = finishReason ?? null;
    this.rest.add(piece, OF_THE_CHOICE);
  }

  toJson(index: number): JsonObject {
    const calls = this.toolCalls.toJson();
    const message = { role: 'assistant', content: null, ...this.message.toJson() };
    return {
      index,
      message: calls.length > 0 ? { ...message, tool_calls: calls } : message,
      ...this.rest.toJson(),
      finish_reason: this.finishReason,
    };
  }
}

/** Tool calls by index and id: some providers give two calls one index, telling them apart by their ids only. */
class ToolCallsAssembly {
  private readonly calls: { readonly index: JsonValue | undefined; readonly draft: JsonDraft }[] = [];

  constructor(private readonly findings: Findings) {}

  add(piece: JsonValue): void {
    if (!isJsonObject(piece)) {
      this.findings.faithful = false;
      return;
    }
    const draft = this.callOf(piece) ?? this.begin(piece['index']);
    if (repeatsItsStart(draft, piece)) this.findings.faithful = false;
    draft.add(piece, INDEX);
  }

  toJson(): JsonObject[] {
    return this.calls.map(({ draft }) => draft.toJson());
  }

  private callOf({ index, id }: JsonObject): JsonDraft | undefined {
    if (isEmpty(id)) return this.calls.findLast(call => index === undefined || call.index === index)?.draft;
    const mayBeIt = (known: unknown): boolean => isEmpty(known) || known === id;
    return this.calls.findLast(call => call.index === index && mayBeIt(call.draft.get('id')))?.draft;
  }

  private begin(index: JsonValue | undefined): JsonDraft {
    const draft = new JsonDraft(this.findings, 'continue');
    this.calls.push({ index, draft });
    return draft;
  }
}

/** A piece without an id that names its function again may continue its call or begin another. */
function repeatsItsStart(draft: JsonDraft, piece: JsonObject): boolean {
  const called = piece['function'];
  return (
    isEmpty(piece['id']) && isJsonObject(called) && !isEmpty(called['name']) && draft.get('function') !== undefined
  );
}

/** The whole completion that says the same as a stream's chunks. */
export function assembleCompletion(chunks: readonly JsonObject[]): AssembledCompletion {
  const assembly = new CompletionAssembly();
  for (const chunk of chunks) assembly.add(chunk);
  return assembly.result();
}

/** The chunks that say the same as a whole completion; its usage only where the caller asked for it. */
export function splitCompletion(body: JsonObject, options: { readonly includeUsage: boolean }): JsonObject[] {
  const { id, created, model, choices, usage, ...others } = body;
  const frame = { id, object: 'chat.completion.chunk', created, model };
  const withUsage = options.includeUsage && !isEmpty(usage);
  const pieces = listOf(choices).filter(isJsonObject).flatMap(splitChoice);
  const chunkOf = (choice: readonly JsonObject[]) => ({ ...frame, choices: choice, ...(withUsage && { usage: null }) });
  return [
    { ...others, ...chunkOf(pieces.slice(0, 1)) },
    ...pieces.slice(1).map(piece => chunkOf([piece])),
    ...(withUsage ? [{ ...frame, choices: [], usage }] : []),
  ];
}

function splitChoice(choice: JsonObject): JsonObject[] {
  const { index = 0, message, finish_reason, ...others } = choice;
  const { role = 'assistant', ...said } = isJsonObject(message) ? message : {};
  const start: [string, JsonValue][] = [['role', role]];
  const pieces: JsonObject[] = [];
  for (const [name, value] of Object.entries(said)) {
    if (value === undefined) continue;
    if (isEmpty(value)) start.push([name, value]);
    else pieces.push(Object.fromEntries([[name, name === 'tool_calls' ? numbered(value) : value]]));
  }
  return [
    ...[Object.fromEntries(start), ...pieces].map(delta => ({ index, delta, finish_reason: null })),
    { index, delta: {}, ...others, finish_reason },
  ];
}

function numbered(calls: JsonValue): JsonValue {
  return listOf(calls).map((call, index) => (isJsonObject(call) ? { ...call, index } : call));
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : [];
}

/** Null, an empty text or an empty list: says nothing where something else is said. */
function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
}
