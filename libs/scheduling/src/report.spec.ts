import { RedisUnavailable } from '@spillway/redis';
import { CapturedLog } from '../../../test/support/captured-log';
import { reportTo } from './report';

const replied = (message: string): Error => Object.assign(new Error(message), { name: 'ReplyError' });

describe('a report', () => {
  it.each([
    new RedisUnavailable('timeout'),
    replied("OOM command not allowed when used memory > 'maxmemory'."),
    replied('MISCONF Redis is configured to save RDB snapshots'),
    Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' }),
    new Error('Connection is closed.'),
  ])('says nothing of a Redis that is lost: %s', error => {
    const log = new CapturedLog();
    reportTo(log)('a queue worker met an error', error);
    expect(log.lines).toEqual([]);
  });

  it.each([replied('ERR wrong number of arguments'), new TypeError('of ours'), 'a word'])('tells of %s', error => {
    const log = new CapturedLog();
    reportTo(log)('a queue worker met an error', error);
    expect(log.lines).toMatchObject([
      { level: 'warn', message: 'a queue worker met an error', fields: { err: error } },
    ]);
  });
});
