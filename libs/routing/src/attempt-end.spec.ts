import { usageOf } from './attempt-end';

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
