import { JsonLines, SharedFields } from './logger';
import type { LineSink } from './standard-output';

class Lines implements LineSink {
  text = '';
  flushes = 0;

  get last(): Record<string, unknown> {
    return JSON.parse(this.text.trimEnd().split('\n').at(-1) ?? '') as Record<string, unknown>;
  }

  write(line: Buffer): void {
    this.text += line.toString();
  }

  flush(): void {
    this.flushes += 1;
  }

  drain(done: () => void): void {
    done();
  }

  close(): void {}
}

describe('JsonLines', () => {
  const sink = new Lines();
  const logger = new JsonLines('info', sink);

  it('writes one object a line: level, time, fields and message', () => {
    const others = { nested: { list: [1, null] }, lone: '\ud800' };
    logger.warn(
      { part: 'redis', nothing: undefined, text: 'a\n"b"\u2028', count: 2.5, odd: NaN, ...others },
      'lost:\nbye',
    );
    expect(sink.text).toMatch(/^\{"level":"warn","time":"\d{4}-\d\d-\d\dT[\d:.]+Z",[^\n]*\}\n$/);
    expect(sink.last).toMatchObject({ level: 'warn', part: 'redis', text: 'a\n"b"\u2028', msg: 'lost:\nbye' });
    expect(sink.last).not.toHaveProperty('nothing');
    expect(sink.last).toMatchObject({ count: 2.5, odd: null, nested: { list: [1, null] }, lone: '\ud800' });
    expect(Math.abs(Date.now() - Date.parse(String(sink.last['time'])))).toBeLessThan(60_000);
  });

  it('writes a line without fields, and one without a message', () => {
    logger.info({}, 'ready');
    expect(Object.keys(sink.last)).toEqual(['level', 'time', 'msg']);
    logger.info({ outcome: 'generated' });
    expect(Object.keys(sink.last)).toEqual(['level', 'time', 'outcome']);
  });

  it('ends several lines with the same fields, whatever their letters', () => {
    const shared = new SharedFields({ route: 'shop', snippet: 'é … 你好 🚀', nothing: undefined, last: null });
    for (const id of ['one', 'zwölf']) {
      logger.info({ id }, undefined, shared);
      const { time, ...line } = sink.last;
      expect(time).toEqual(expect.any(String));
      expect(line).toEqual({ level: 'info', id, route: 'shop', snippet: 'é … 你好 🚀', last: null });
    }
    logger.info({}, 'with words', shared);
    expect(sink.last).toMatchObject({ msg: 'with words', route: 'shop' });
  });

  it('tells of an error its type, message, code and stack, and nothing of what was sent', () => {
    logger.error({ err: new TypeError('no such thing') }, 'unexpected');
    expect(sink.last['err']).toMatchObject({ type: 'TypeError', message: 'no such thing' });
    expect(String((sink.last['err'] as { stack: unknown }).stack)).toContain('logger.spec');
    const refused = Object.assign(new Error('refused'), { code: 'EPIPE', command: { args: ['AUTH', 's3cret'] } });
    logger.error({ err: Object.assign(new Error('lost', { cause: refused }), { sent: 's3cret' }) });
    expect(sink.last['err']).toMatchObject({ message: 'lost: refused' });
    logger.error({ err: refused });
    expect(Object.keys(Object(sink.last['err']))).toEqual(['type', 'message', 'code', 'stack']);
    expect(sink.text).not.toContain('s3cret');
    logger.error({ err: 'only words' });
    expect(sink.last['err']).toBe('only words');
  });

  it('leaves out what is less important than its level, which may change', () => {
    const before = sink.text;
    logger.debug({}, 'detail');
    expect(sink.text).toBe(before);
    logger.level = 'debug';
    logger.debug({}, 'detail');
    expect(sink.last['level']).toBe('debug');
    const after = sink.text;
    logger.level = 'silent';
    logger.error({}, 'nobody hears it');
    expect(sink.text).toBe(after);
  });

  it('flushes once for lines that come together', async () => {
    const own = new Lines();
    const quick = new JsonLines('info', own);
    quick.info({});
    quick.info({});
    expect(own.flushes).toBe(0);
    await new Promise(resolve => setTimeout(resolve, 500));
    expect(own.flushes).toBe(1);
  });
});
