import { InvalidRequest } from '@spillway/contracts';
import { parseControls } from './controls';

const parse = (headers: Record<string, string>, body = {}) => parseControls(null, headers, body);

describe('request controls', () => {
  it('are all absent in an ordinary OpenAI call', () => {
    expect(parse({ 'content-type': 'application/json' })).toEqual({
      priority: null,
      priorityBy: null,
      maxWaitMs: null,
      deadlineMs: null,
      scope: '',
      user: null,
      cacheRead: true,
      cacheWrite: true,
      cacheLevel: null,
      cacheTtlS: null,
      onlyIfCached: false,
      cacheThreshold: null,
    });
  });

  it('take the class from the path before the header before the service tier', () => {
    const headers = { 'x-spillway-priority': 'low' };
    const body = { service_tier: 'priority' };
    expect(parseControls('normal', headers, body)).toMatchObject({ priority: 'normal', priorityBy: 'path' });
    expect(parseControls(null, headers, body)).toMatchObject({ priority: 'low', priorityBy: 'header' });
    expect(parseControls(null, {}, body)).toMatchObject({ priority: 'critical', priorityBy: 'service_tier' });
  });

  it.each([
    ['priority', 'critical'],
    ['fast', 'critical'],
    ['auto', 'normal'],
    ['default', 'normal'],
    ['scale', 'normal'],
    ['flex', 'low'],
    [null, null],
  ])('read service_tier %p as %p', (service_tier, priority) => {
    expect(parse({}, { service_tier }).priority).toBe(priority);
  });

  it.each([
    ['CRITICAL', 'critical'],
    [' Low ', 'low'],
    ['', null],
  ])('read the priority header %p as %p', (value, priority) => {
    expect(parse({ 'x-spillway-priority': value }).priority).toBe(priority);
  });

  it.each([
    ['x-spillway-priority', 'urgent!!'],
    ['x-spillway-max-wait-ms', '600001'],
    ['x-spillway-max-wait-ms', '-1'],
    ['x-spillway-max-wait-ms', '1.5'],
    ['x-spillway-max-wait-ms', 'NaN'],
    ['x-ark-max-wait-timeout-ms', '99999999999999999999'],
    ['x-spillway-deadline-ms', 'soon'],
    ['x-spillway-cache', 'maybe'],
    ['x-spillway-cache-ttl', '1h'],
    ['x-spillway-cache-threshold', '1.1'],
    ['x-spillway-cache-threshold', '-0.5'],
  ])('refuse %s: %s and name it', (name, value) => {
    expect(() => parse({ [name]: value })).toThrow(InvalidRequest);
    expect(() => parse({ [name]: value })).toThrow(name);
  });

  it.each([['batch'], [7], [{ tier: 'flex' }], ['constructor']])('refuse service_tier %p', service_tier => {
    expect(() => parse({}, { service_tier })).toThrow(InvalidRequest);
  });

  it('take the wait from our header before Ark’s', () => {
    expect(parse({ 'x-spillway-max-wait-ms': '0', 'x-ark-max-wait-timeout-ms': '60000' }).maxWaitMs).toBe(0);
    expect(parse({ 'x-ark-max-wait-timeout-ms': '60000' }).maxWaitMs).toBe(60_000);
  });

  it('wait no longer than a caller that prefers a job after a while, whatever the deadline', () => {
    const prefer = 'respond-async, wait=2';
    expect(parse({ prefer }).deadlineMs).toBe(2_000);
    expect(parse({ prefer, 'x-spillway-deadline-ms': '0' }).deadlineMs).toBe(2_000);
    expect(parse({ prefer, 'x-spillway-deadline-ms': '1500' }).deadlineMs).toBe(1_500);
    expect(parse({ prefer: 'wait=2', 'x-spillway-deadline-ms': '0' }).deadlineMs).toBe(0);
  });

  it('take the deadline from our header, else from the client’s own timeout less a margin', () => {
    expect(parse({ 'x-spillway-deadline-ms': '1200', 'x-stainless-timeout': '600' }).deadlineMs).toBe(1_200);
    expect(parse({ 'x-stainless-timeout': '600' }).deadlineMs).toBe(598_000);
    expect(parse({ 'x-stainless-timeout': '10' }).deadlineMs).toBe(9_500);
    expect(parse({ 'x-stainless-read-timeout': '1' }).deadlineMs).toBe(900);
    expect(parse({ 'x-stainless-timeout': 'NOT_GIVEN' }).deadlineMs).toBeNull();
  });

  it('know what Cache-Control allows', () => {
    expect(parse({ 'cache-control': 'no-cache' })).toMatchObject({ cacheRead: false, cacheWrite: true });
    expect(parse({ 'cache-control': 'max-age=0, No-Store' })).toMatchObject({ cacheRead: false, cacheWrite: false });
    expect(parse({ 'cache-control': 'Only-If-Cached' })).toMatchObject({ cacheRead: true, onlyIfCached: true });
  });

  it('take the end user from our header before the body', () => {
    expect(parse({ 'x-spillway-user': 'ann' }, { user: 'bob' }).user).toBe('ann');
    expect(parse({}, { user: 'bob' }).user).toBe('bob');
    expect(parse({}, { user: 7 }).user).toBe('7');
    expect(parse({}, { user: { id: 7 } }).user).toBeNull();
  });
});
