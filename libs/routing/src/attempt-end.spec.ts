import { UpstreamFailure } from '@spillway/providers';
import { endOf, usageOf, wasRefused } from './attempt-end';

describe('the usage that an answer tells', () => {
  it.each([
    [
      { prompt_tokens: 7, completion_tokens: 3 },
      { input: 7, output: 3 },
    ],
    [{ prompt_tokens: 7 }, { input: 7, output: 0 }],
    [
      { prompt_tokens: 7, completion_tokens: null },
      { input: 7, output: 0 },
    ],
  ])('is taken: %j', (usage, expected) => {
    expect(usageOf({ usage })).toEqual(expected);
  });

  it.each([
    [undefined],
    [null],
    [[]],
    ['7'],
    [{}],
    [{ prompt_tokens: '7' }],
    [{ prompt_tokens: -7 }],
    [{ prompt_tokens: 7, completion_tokens: -1 }],
    [{ prompt_tokens: 7, completion_tokens: '3' }],
    [{ prompt_tokens: 1e308 }],
  ])('is no usage where it cannot be: %j', usage => {
    expect(usageOf({ usage })).toBeNull();
  });
});

describe('the end of an attempt', () => {
  it('says nothing about the model where the caller left or was at fault', () => {
    expect(endOf(null)).toBe('ignored');
    expect(endOf(new UpstreamFailure('caller-fault', 'no', { status: 400 }))).toBe('ignored');
    expect(endOf(new UpstreamFailure('server', 'no', { status: 500 }))).toBe('dropped');
    expect(endOf(new UpstreamFailure('requests', 'no', { status: 429 }))).toBe('dropped');
  });

  it('is a refusal where the provider answered with a status of its own', () => {
    expect([400, 429, 500].map(status => wasRefused(new UpstreamFailure('server', 'no', { status })))).toEqual([
      true,
      true,
      true,
    ]);
    expect([200, null].some(status => wasRefused(new UpstreamFailure('network', 'no', { status })))).toBe(false);
    expect(wasRefused(new Error('left'))).toBe(false);
  });
});
