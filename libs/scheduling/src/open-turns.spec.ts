import type { ModelSettings, Usage } from '@spillway/contracts';
import type { Grant, Permits } from '@spillway/quota';
import { RedisUnavailable } from '@spillway/redis';
import { OpenTurns } from './open-turns';

const model = { name: 'm' } as ModelSettings;
const guess = (): Usage => ({ input: 7, output: 8 });
const grant: Grant = { ticket: 't-1', model: 'm', lease: 'one' };

describe('OpenTurns', () => {
  const release = jest.fn<ReturnType<Permits['release']>, Parameters<Permits['release']>>();
  const renew = jest.fn<ReturnType<Permits['renew']>, Parameters<Permits['renew']>>();
  const report = jest.fn();
  let open: OpenTurns;

  beforeEach(() => {
    jest.useFakeTimers();
    release.mockReset().mockResolvedValue();
    renew.mockReset().mockResolvedValue();
    report.mockReset();
    open = new OpenTurns({ release, renew }, { now: () => Date.now() }, { lease_ms: 240, claim_ms: 40 }, report);
  });

  afterEach(() => {
    open.stop();
    jest.useRealTimers();
  });

  it('gives a permit back once, with what was used', () => {
    const turn = open.open(grant, model, guess);
    expect(open.has(grant)).toBe(true);
    expect(open.has({ ...grant, lease: 'another' })).toBe(false);
    turn.close('success', { input: 1, output: 2 });
    turn.close('dropped');
    expect(open.has(grant)).toBe(false);
    expect(release.mock.calls).toEqual([[grant, 'success', { input: 1, output: 2 }]]);
  });

  it('keeps the permit of a call that was broken off until the news of it has travelled', async () => {
    const turn = open.open(grant, model, guess);
    turn.close('ignored');
    turn.close('ignored');
    await jest.advanceTimersByTimeAsync(240);
    expect(release).not.toHaveBeenCalled();
    expect(renew).toHaveBeenCalledWith([grant]);
    await jest.advanceTimersByTimeAsync(20);
    expect(release.mock.calls).toEqual([[grant, 'ignored', guess(), undefined]]);
  });

  it('keeps no permit of a call that was never made, nor where the process leaves', () => {
    open.open(grant, model, guess).close('ignored', { input: 0, output: 0 });
    expect(release).toHaveBeenCalledTimes(1);
    open.open({ ...grant, ticket: 't-2' }, model, guess).close('ignored');
    expect(release).toHaveBeenCalledTimes(1);
    open.leaveNow();
    open.open({ ...grant, ticket: 't-3' }, model, guess).close('ignored');
    expect(release).toHaveBeenCalledTimes(3);
  });

  it('doubts what it hears after the process stood still for longer than a claim', async () => {
    await jest.advanceTimersByTimeAsync(100);
    expect(open.mayBeStale).toBe(false);
    jest.setSystemTime(Date.now() + 60);
    expect(open.mayBeStale).toBe(true);
    await jest.advanceTimersByTimeAsync(30);
    expect(open.mayBeStale).toBe(true);
    await jest.advanceTimersByTimeAsync(30);
    expect(open.mayBeStale).toBe(false);
  });

  it('reports a permit that could not be given back, and bothers nobody with it', async () => {
    const failure = new Error('lost');
    release.mockRejectedValue(failure);
    open.open(grant, model, guess).close('success');
    await jest.advanceTimersByTimeAsync(1);
    expect(report).toHaveBeenCalledWith(expect.any(String), failure);
  });

  it('gives a permit back when Redis is there again, as long as its lease may last', async () => {
    release.mockRejectedValue(new RedisUnavailable('lost'));
    open.open(grant, model, guess).close('success', { input: 1, output: 2 });
    await jest.advanceTimersByTimeAsync(100);
    release.mockResolvedValue();
    await jest.advanceTimersByTimeAsync(20);
    const tries = release.mock.calls.length;
    expect(release.mock.calls.at(-1)).toEqual([grant, 'success', { input: 1, output: 2 }]);
    expect(tries).toBeGreaterThan(2);
    await jest.advanceTimersByTimeAsync(100);
    expect(release).toHaveBeenCalledTimes(tries);

    release.mockReset().mockRejectedValue(new RedisUnavailable('lost'));
    open.open(grant, model, guess).close('ignored', guess());
    await jest.advanceTimersByTimeAsync(1_000);
    expect(release.mock.calls.length).toBeLessThan(30);
    expect(report).toHaveBeenCalledTimes(1);
  });

  it('renews a turn before its claim runs out, then before its lease does; a closed one never', async () => {
    open.open(grant, model, guess);
    open.open({ ...grant, ticket: 't-closed' }, model, guess).close('success');
    await jest.advanceTimersByTimeAsync(30);
    expect(renew.mock.calls).toEqual([[[grant]]]);
    await jest.advanceTimersByTimeAsync(80);
    expect(renew.mock.calls.length).toBeGreaterThan(1);
    expect(renew.mock.calls.length).toBeLessThan(5);
    expect(renew.mock.calls.flat(2)).not.toContainEqual(expect.objectContaining({ ticket: 't-closed' }));
  });

  it('tries again when a renewal fails', async () => {
    renew.mockRejectedValueOnce(new Error('lost'));
    open.open(grant, model, guess);
    await jest.advanceTimersByTimeAsync(80);
    expect(renew.mock.calls.length).toBeGreaterThan(1);
    expect(report).toHaveBeenCalledTimes(1);
  });
});
