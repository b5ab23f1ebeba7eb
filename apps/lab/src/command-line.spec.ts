import { commandOf, InvalidCommandLine } from './command-line';

describe('the command line', () => {
  it('names a scenario and how to run it', () => {
    expect(commandOf(['sales-day', '--short', '--seed', '7', '--arm', 'cold', '--arm', 'sdk'])).toEqual({
      what: 'sales-day',
      short: true,
      strict: false,
      seed: 7,
      compress: null,
      arms: ['cold', 'sdk'],
      out: null,
    });
  });

  it.each([[[]], [['a', 'b']], [['a', '--fast']], [['a', '--seed', 'x']], [['a', '--compress', '0']]])(
    'refuses %j',
    args => expect(() => commandOf(args)).toThrow(InvalidCommandLine),
  );
});
