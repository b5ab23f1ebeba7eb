import { commandOf, commandText, InvalidCommandLine } from './command-line';

describe('the command line', () => {
  it('names a scenario and how to run it', () => {
    expect(commandOf('sales-day --short --seed 7 --arm cold --arm sdk --virtual --what-if a.b=2'.split(' '))).toEqual({
      what: 'sales-day',
      short: true,
      strict: false,
      seed: 7,
      again: null,
      publish: false,
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
    [['a', '--publish', '--virtual']],
    [['a', '--publish', '--arm', 'b']],
  ])('refuses %j', args => expect(() => commandOf(args)).toThrow(InvalidCommandLine));

  it('may ask for help', () => expect(commandOf(['--help'])).toBeNull());

  it('is told again for each scenario, without where its report went', () => {
    const args = 'all --short --out /somewhere --seed 2'.split(' ');
    expect(commandText(args, 'all', 'burst')).toBe('npm run lab -- burst --short --seed 2');
  });
});
