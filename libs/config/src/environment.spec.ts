import { ConfigurationError } from './configuration-error';
import { readEnvironment } from './environment';

describe('readEnvironment', () => {
  it('takes what it knows and keeps the rest for the file', () => {
    const environment = readEnvironment({ PORT: '0', SPILLWAY_ROLE: 'worker', LOG_LEVEL: 'debug', SHOP_KEY: 'x' });
    expect(environment).toMatchObject({ port: 0, role: 'worker', logLevel: 'debug', file: undefined });
    expect(environment.variables['SHOP_KEY']).toBe('x');
  });

  it('takes empty variables for absent ones', () => {
    const environment = readEnvironment({
      PORT: '',
      SPILLWAY_ROLE: '',
      REDIS_URL: '',
      LOG_LEVEL: '',
      OPENAI_API_KEY: '',
    });
    expect(environment).toEqual({ ...readEnvironment({}), variables: {} });
    expect(environment.role).toBe('all');
  });

  it.each([
    ['PORT', '80x'],
    ['PORT', '-1'],
    ['PORT', '65536'],
    ['PORT', '8080.5'],
    ['SPILLWAY_ROLE', 'both'],
    ['LOG_LEVEL', 'loud'],
    ['REDIS_URL', 'localhost:6379'],
    ['QDRANT_URL', 'qdrant'],
    ['OPENAI_BASE_URL', 'api.openai.com'],
    ['OPENAI_API_KEY', 'sk-x\n'],
    ['SPILLWAY_ADMIN_KEY', 'a b'],
  ])('refuses %s=%j without showing it', (name, value) => {
    const attempt = () => readEnvironment({ [name]: value });
    expect(attempt).toThrow(ConfigurationError);
    expect(attempt).toThrow(new RegExp(`\n  ${name}: expected (?!.*${value.trim()})`));
  });

  it('tells all problems at once', () => {
    const attempt = () => readEnvironment({ PORT: 'x', SPILLWAY_ROLE: 'x', LOG_LEVEL: 'x' });
    expect(attempt).toThrow(/PORT: .*\n.*SPILLWAY_ROLE: .*\n.*LOG_LEVEL: /);
  });
});
