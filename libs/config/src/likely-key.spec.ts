import { configurationSchema } from './schema';
import { likelyKey } from './likely-key';

describe('likelyKey', () => {
  it.each([
    [[], 'servre', 'server'],
    [[], 'classification', undefined],
    [['models', 'any name'], 'headrom', 'headroom'],
    [['models', 'any name', 'limits'], 'rmp', 'rpm'],
    [['models', 'any name', 'limits'], 'qps', undefined],
    [['priorities', 'low'], 'maxWaitMs', 'max_wait_ms'],
    [['priorities'], 'criticl', 'critical'],
    [['routes', 'r', 'cache', 'rules'], 'tool', 'tools'],
    [['keys', 0, 'limits'], 'in-flight', 'inflight'],
    [['classify', 3, 'when'], 'headers', 'header'],
    [['nowhere', 0, 'at all'], 'port', undefined],
    [['server'], '', undefined],
  ])('of %j takes %j for %j', (path, key, expected) => {
    expect(likelyKey(configurationSchema, path, key)).toBe(expected);
  });
});
