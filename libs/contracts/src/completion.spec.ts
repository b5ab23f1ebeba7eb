import fc from 'fast-check';
import { assembleCompletion, CompletionAssembly, splitCompletion } from './completion';
import type { JsonObject } from './json';

const frame = { id: 'c1', object: 'chat.completion.chunk', created: 1700000000, model: 'real-primary' };
const chunk = (delta: JsonObject, more: JsonObject = {}): JsonObject => ({
  ...frame,
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
});
const toolCall = (call: JsonObject): JsonObject => chunk({ tool_calls: [call] });

function onlyChoice(chunks: readonly JsonObject[]): { choice: JsonObject; message: JsonObject; faithful: boolean } {
  const { body, faithful } = assembleCompletion(chunks);
  const choices = body['choices'] as JsonObject[];
  expect(choices).toHaveLength(1);
  const choice = choices[0] as JsonObject;
  return { choice, message: choice['message'] as JsonObject, faithful };
}

describe('assembleCompletion', () => {
  it('joins what the deltas say and keeps the frame', () => {
    const { body, faithful } = assembleCompletion([
      { ...chunk({ role: 'assistant', content: '', refusal: null }), system_fingerprint: 'fp', usage: null },
      chunk({ reasoning_content: 'let ' }),
      chunk({ reasoning_content: 'me', content: null }),
      chunk({ content: 'po' }),
      chunk({ content: 'ng', role: 'assistant' }),
      chunk({}, { finish_reason: 'stop' }),
      { ...frame, choices: [], usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 } },
    ]);

    expect(faithful).toBe(true);
    expect(body).toEqual({
      id: 'c1',
      object: 'chat.completion',
      created: 1700000000,
      model: 'real-primary',
      system_fingerprint: 'fp',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'pong', refusal: null, reasoning_content: 'let me' },
          finish_reason: 'stop',
        },
      ],
      usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 },
    });
  });

  it('keeps two tool calls that share one index apart (B13)', () => {
    const { message, choice, faithful } = onlyChoice([
      toolCall({
        index: 0,
        id: 'call_a',
        type: 'function',
        function: { name: 'read_file', arguments: '{"path":"a"}' },
      }),
      toolCall({ index: 0, id: 'call_b', type: 'function', function: { name: 'read_file', arguments: '{"path":' } }),
      toolCall({ index: 0, function: { arguments: '"b"}' } }),
      chunk({}, { finish_reason: 'tool_calls' }),
    ]);

    expect(faithful).toBe(true);
    expect(choice['finish_reason']).toBe('tool_calls');
    expect(message['content']).toBeNull();
    expect(message['tool_calls']).toEqual([
      { id: 'call_a', type: 'function', function: { name: 'read_file', arguments: '{"path":"a"}' } },
      { id: 'call_b', type: 'function', function: { name: 'read_file', arguments: '{"path":"b"}' } },
    ]);
  });

  it('joins interleaved tool calls by index, whether the id is repeated or not', () => {
    const { message, faithful } = onlyChoice([
      toolCall({ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }),
      toolCall({ index: 1, id: 'b', type: 'function', function: { name: 'g', arguments: '' } }),
      toolCall({ index: 0, id: 'a', function: { name: null, arguments: '{"x"' } }),
      toolCall({ index: 1, function: { arguments: '{}' } }),
      toolCall({ index: 0, id: '', type: 'function', function: { name: '', arguments: ':1}' } }),
    ]);

    expect(faithful).toBe(true);
    expect(message['tool_calls']).toEqual([
      { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
      { id: 'b', type: 'function', function: { name: 'g', arguments: '{}' } },
    ]);
  });

  it('concatenates log probabilities and annotations', () => {
    const { message, choice } = onlyChoice([
      chunk({ content: 'a', annotations: [{ n: 1 }] }, { logprobs: { content: [{ token: 'a' }], refusal: null } }),
      chunk({ content: 'b', annotations: [{ n: 2 }] }, { logprobs: { content: [{ token: 'b' }], refusal: null } }),
      chunk({}, { logprobs: null, finish_reason: 'stop' }),
    ]);

    expect(message['annotations']).toEqual([{ n: 1 }, { n: 2 }]);
    expect(choice['logprobs']).toEqual({ content: [{ token: 'a' }, { token: 'b' }], refusal: null });
  });

  it('orders choices by index', () => {
    const choiceOf = (index: number, content: string): JsonObject => ({ index, delta: { content } });
    const { body } = assembleCompletion([
      { ...frame, choices: [choiceOf(1, 'x'), choiceOf(0, 'a')] },
      { ...frame, choices: [choiceOf(0, 'b')] },
      { ...frame, choices: [choiceOf(1, 'y')] },
    ]);

    expect((body['choices'] as JsonObject[]).map(choice => (choice['message'] as JsonObject)['content'])).toEqual([
      'ab',
      'xy',
    ]);
  });

  it('takes the last statement of the frame, whatever is empty aside', () => {
    const { body } = assembleCompletion([
      { id: '', object: '', created: 0, model: '', prompt_filter_results: [{ prompt_index: 0 }], choices: [] },
      { ...chunk({ content: 'a' }), obfuscation: 'xyz', usage: { total_tokens: 3 } },
      { ...chunk({}, { finish_reason: 'stop' }), prompt_filter_results: [], usage: null },
      chunk({}, { finish_reason: null }),
    ]);

    expect(body).toMatchObject({
      id: 'c1',
      created: 1700000000,
      prompt_filter_results: [{ prompt_index: 0 }],
      usage: { total_tokens: 3 },
      choices: [{ finish_reason: 'stop' }],
    });
    expect(body).not.toHaveProperty('obfuscation');
  });

  it.each<[string, JsonObject[]]>([
    ['an error among the chunks', [{ error: { message: 'x' } }]],
    ['a second function name', [named('a', 'f'), named('a', 'g')]],
    ['a function named again without an id', [named(null, 'f'), named(null, 'f')]],
    ['a text that becomes a list', [chunk({ content: 'a' }), chunk({ content: [{ type: 'text' }] })]],
    ['a number that changes', [chunk({ seed: 1 }), chunk({ seed: 2 })]],
    ['a whole message among the deltas', [chunk({ content: 'a' }), chunk({}, { message: { content: 'a' } })]],
    ['a choice that is no object', [{ ...frame, choices: ['a'] }]],
    ['a tool call that is no object', [chunk({ tool_calls: ['a'] })]],
  ])('is not faithful to %s', (_, chunks) => {
    expect(assembleCompletion(chunks).faithful).toBe(false);
  });

  it('leaves the chunks and all prototypes alone', () => {
    const odd = JSON.parse('{"content":"a","__proto__":{"polluted":"yes"},"list":[1]}') as JsonObject;
    const chunks = [chunk(odd), chunk({ list: [2] })];
    const before = JSON.stringify(chunks);
    const { message } = onlyChoice(chunks);

    expect(JSON.stringify(chunks)).toBe(before);
    expect(Object.getPrototypeOf(message)).toBe(Object.prototype);
    expect(Object.getOwnPropertyDescriptor(message, '__proto__')?.value).toEqual({ polluted: 'yes' });
    expect(message['list']).toEqual([1, 2]);
  });

  it('stays linear and knows its size', () => {
    const assembly = new CompletionAssembly();
    for (let count = 0; count < 50_000; count++)
      assembly.add(chunk({ content: 'word ' }, { logprobs: { content: [1] } }));

    expect(assembly.characters).toBe(50_000 * ('word '.length + '[1]'.length));
    expect(JSON.stringify(assembly.result().body).length).toBeGreaterThan(50_000 * 'word '.length);
  });
});

function named(id: string | null, name: string): JsonObject {
  return toolCall({ index: 0, id, function: { name, arguments: '{}' } });
}

describe('splitCompletion', () => {
  const body = {
    id: 'c1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    citations: ['u'],
    choices: [
      { index: 0, message: { role: 'assistant', content: 'a', refusal: null }, logprobs: null, finish_reason: 'stop' },
    ],
    usage: { total_tokens: 3 },
  };
  const chunkFrame = { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm' };

  it('begins with the role, ends with the reason, and counts only where asked', () => {
    const [first, ...others] = splitCompletion(body, { includeUsage: false });

    expect(first).toEqual({
      ...chunkFrame,
      citations: ['u'],
      choices: [{ index: 0, delta: { role: 'assistant', refusal: null }, finish_reason: null }],
    });
    expect(others).toEqual([
      { ...chunkFrame, choices: [{ index: 0, delta: { content: 'a' }, finish_reason: null }] },
      { ...chunkFrame, choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: 'stop' }] },
    ]);
  });

  it('ends with a usage chunk where asked', () => {
    const chunks = splitCompletion(body, { includeUsage: true });

    expect(chunks.at(-1)).toEqual({ ...chunkFrame, choices: [], usage: { total_tokens: 3 } });
    expect(chunks.slice(0, -1).every(one => one['usage'] === null)).toBe(true);
    expect(splitCompletion({ ...body, usage: undefined }, { includeUsage: true })).toHaveLength(3);
  });

  const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom('', '\u2028"\\</script>', '🚀'));
  const json = fc.jsonValue({ noUnicodeString: false }).map(value => value as JsonObject);
  const toolCall = fc.record({
    id: fc.string({ minLength: 1 }),
    type: fc.constant('function'),
    function: fc.record({ name: fc.string({ minLength: 1 }), arguments: text }),
  });
  const toolCalls = fc.uniqueArray(toolCall, { selector: call => call.id, minLength: 1, maxLength: 4 });
  const message = fc.record(
    {
      role: fc.constant('assistant'),
      content: fc.option(text),
      refusal: fc.option(text),
      reasoning_content: text,
      tool_calls: fc.option(fc.oneof(fc.constant([]), toolCalls)),
      annotations: fc.array(json),
      audio: fc.record({ id: fc.string(), data: text }),
      unknown_field: json,
    },
    { requiredKeys: ['role', 'content'] },
  );
  const choice = fc.record(
    {
      message,
      logprobs: fc.option(fc.record({ content: fc.option(fc.array(json)), refusal: fc.constant(null) })),
      finish_reason: fc.constantFrom('stop', 'length', 'tool_calls', null),
      stop_reason: json,
    },
    { requiredKeys: ['message', 'finish_reason'] },
  );
  const completion = fc.record(
    {
      id: fc.string({ minLength: 1 }),
      object: fc.constant('chat.completion'),
      created: fc.nat(),
      model: fc.string({ minLength: 1 }),
      system_fingerprint: fc.option(fc.string()),
      service_tier: fc.constantFrom('default', null),
      citations: fc.array(fc.webUrl()),
      choices: fc
        .array(choice, { minLength: 1, maxLength: 3 })
        .map(list => list.map((one, index) => ({ index, ...one }))),
      usage: fc.record({ prompt_tokens: fc.nat(), completion_tokens: fc.nat(), total_tokens: fc.nat() }),
    },
    { requiredKeys: ['id', 'object', 'created', 'model', 'choices'] },
  );

  it('says what assembling its chunks says again', () => {
    fc.assert(
      fc.property(completion, whole => {
        const wire = JSON.parse(JSON.stringify(splitCompletion(whole, { includeUsage: true }))) as JsonObject[];
        expect(assembleCompletion(wire)).toEqual({ body: JSON.parse(JSON.stringify(whole)), faithful: true });
      }),
      { numRuns: 500 },
    );
  });

  it('never cuts a character in half', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), (content, tail) => {
        const whole = { choices: [{ index: 0, message: { content: `${content}🚀${tail}` }, finish_reason: 'stop' }] };
        for (const piece of splitCompletion(whole, { includeUsage: false })) {
          const [{ delta }] = piece['choices'] as unknown as [{ delta: { content?: string } }];
          expect(delta.content?.isWellFormed() ?? true).toBe(true);
        }
      }),
    );
  });
});
