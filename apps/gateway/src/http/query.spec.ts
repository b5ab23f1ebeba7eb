import { InvalidRequest } from '@spillway/contracts';
import { parametersOf } from './query';

describe('parametersOf', () => {
  it('takes those that are known, or none', () => {
    expect(parametersOf({}, ['route', 'key'])).toEqual({});
    expect(parametersOf({ route: 'r' }, ['route', 'key'])).toEqual({ route: 'r' });
    expect(parametersOf({ route: 'r', key: '' }, ['route', 'key'])).toEqual({ route: 'r' });
  });

  it.each([
    [{ rout: 'r' }, 'rout', 'Only route and key can be given here.'],
    [{ key: 'k', route: ['r', 's'] }, 'route', 'route must be given once.'],
  ])('refuses %j', (query, param, message) => {
    const refused = (): unknown => parametersOf(query, ['route', 'key']);
    expect(refused).toThrow(InvalidRequest);
    expect(refused).toThrow(expect.objectContaining({ param, message }));
  });
});
