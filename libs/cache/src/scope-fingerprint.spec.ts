import fc from 'fast-check';
import type { JsonObject } from '@spillway/contracts';
import { askedText, partitionOf, type PartitionIdentity } from './scope-fingerprint';

const SYSTEM = { role: 'system', content: 'You sell phones.' };
const body = (text: string, more: JsonObject = {}): JsonObject => ({
  model: 'assistant',
  messages: [SYSTEM, { role: 'user', content: text }],
  temperature: 0,
  ...more,
});
const fingerprintOf = (of: JsonObject, beta?: string) => askedText(of, beta)?.fingerprint;

describe('askedText', () => {
  it('is the last message of a user, and all the rest is the fingerprint', () => {
    const asked = askedText(body(' Is it waterproof? '), undefined);
    expect(asked?.text).toBe(' Is it waterproof? ');
    expect(fingerprintOf(body('Is it red?'))).toBe(asked?.fingerprint);
    expect(fingerprintOf({ temperature: 0, messages: body('').messages, model: 'other' })).toBe(asked?.fingerprint);
    expect(fingerprintOf(body('Is it red?', { stream: true, user: 'ada' }))).toBe(asked?.fingerprint);
  });

  const differences: readonly (readonly [what: string, other: JsonObject, beta?: string])[] = [
    [
      'another system prompt',
      body('', {
        messages: [
          { ...SYSTEM, content: 'You sell shoes.' },
          { role: 'user', content: '' },
        ],
      }),
    ],
    ['no system prompt', body('', { messages: [{ role: 'user', content: '' }] })],
    [
      'a history',
      body('', {
        messages: [
          SYSTEM,
          { role: 'user', content: 'Hi' },
          { role: 'assistant', content: 'Hello' },
          { role: 'user', content: '' },
        ],
      }),
    ],
    ['another temperature', body('', { temperature: 1 })],
    ['tools', body('', { tools: [] })],
    ['a response format', body('', { response_format: { type: 'json_object' } })],
    ['an unknown field', body('', { seed: 7 })],
    ['a name of the user', body('', { messages: [SYSTEM, { role: 'user', content: '', name: 'ada' }] })],
    ['parts of text', body('', { messages: [SYSTEM, { role: 'user', content: [{ type: 'text', text: '' }] }] })],
    ['a beta header', body(''), 'assistants=v2'],
  ];

  it.each(differences.map(([what, other, beta]) => ({ what, other, beta })))('differs by $what', ({ other, beta }) => {
    expect(fingerprintOf(other, beta)).toBeDefined();
    expect(fingerprintOf(other, beta)).not.toBe(fingerprintOf(body('')));
  });

  it('reads parts of text, and hides all of them from the fingerprint', () => {
    const parts = (...texts: string[]) =>
      body('', { messages: [{ role: 'user', content: texts.map(text => ({ type: 'text', text })) }] });
    expect(askedText(parts('Is it', 'red?'), undefined)?.text).toBe('Is it\nred?');
    expect(fingerprintOf(parts('Is it', 'red?'))).toBe(fingerprintOf(parts('a', 'b')));
    expect(fingerprintOf(parts('Is it', 'red?'))).not.toBe(fingerprintOf(parts('Is it red?')));
  });

  it.each<[string, JsonObject]>([
    ['no messages', { model: 'm' }],
    ['messages that are none', { messages: 'hi' }],
    ['an empty list', { messages: [] }],
    ['a last message of the assistant', { messages: [{ role: 'assistant', content: 'hi' }] }],
    ['a tool result', { messages: [{ role: 'tool', content: 'hi', tool_call_id: '1' }] }],
    [
      'an image',
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What?' },
              { type: 'image_url', image_url: { url: 'data:' } },
            ],
          },
        ],
      },
    ],
    ['no content', { messages: [{ role: 'user', content: null }] }],
    ['no parts', { messages: [{ role: 'user', content: [] }] }],
  ])('is nothing for %s', (_, odd) => expect(askedText(odd, undefined)).toBeNull());
});

describe('partitionOf', () => {
  const identity: PartitionIdentity = {
    namespace: 'shop',
    scope: '',
    route: 'assistant',
    embedder: 'builtin-1',
    dimension: 384,
    generation: '0',
  };

  it('is the same for the same, and for nothing else', () => {
    const text = fc.string({ maxLength: 3 });
    const identities = fc.record({
      namespace: text,
      scope: text,
      route: text,
      embedder: text,
      dimension: fc.nat(2),
      generation: text,
    });
    expect(partitionOf({ ...identity })).toBe(partitionOf(identity));
    fc.assert(
      fc.property(identities, identities, (one, other) => {
        expect(partitionOf(one) === partitionOf(other)).toBe(JSON.stringify(one) === JSON.stringify(other));
      }),
      { numRuns: 1000 },
    );
  });
});
