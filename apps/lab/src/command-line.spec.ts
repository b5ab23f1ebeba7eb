import { commandOf, InvalidCommandLine } from './command-line';

describe('the command line', () => {
  it('names a scenario and how to run it', () => {
    expect(commandOf('sales-day --short --seed 7 --arm cold --arm sdk --virtual --what-if a.b=2'.split(' '))).toEqual({
      what: 'sales-day',
      short: true,
      strict: false,
      seed: 7,
      compress: null,
      arms: ['cold', 'sdk'],
      virtual: true,
      recall: 0.5,
      whatIf: [{ path: ['a', 'b'], value: 2 }],
      out: null,
    });
  });

  it.each([
    [[]],
    [['a', 'b']],
    [['a', '--fast']],
    [['a', '--seed', 'x']],
    [['a', '--compress', '0']],
    [['a', '--what-if', 'b']],
  ])('refuses %j', args => expect(() => commandOf(args)).toThrow(InvalidCommandLine));
});
