import { findResetInText, parseReset, parseRetryAfter, parseRetryAfterMs } from './reset-times';

const NOW = Date.parse('2026-11-29T12:00:00Z');

describe('parseReset', () => {
  it.each([
    ['6m0s', 360_000],
    ['1m30s', 90_000],
    ['17ms', 17],
    ['250ms', 250],
    ['1.5s', 1500],
    ['2m59.56s', 179_560],
    ['23h47m36.648s', 85_656_648],
    ['1d2h', 93_600_000],
    ['42', 42_000],
    ['1.5', 1500],
    [' 2 ', 2000],
    ['0', 0],
    ['0s', 0],
    ['2026-11-29T12:00:30Z', 30_000],
    ['2026-11-29T13:00:30+01:00', 30_000],
    ['Sun, 29 Nov 2026 12:00:30 GMT', 30_000],
    [String(NOW / 1000 + 30), 30_000],
    [String(NOW + 30_000), 30_000],
  ])('reads %p', (value, expected) => {
    expect(parseReset(value, NOW)).toBe(expected);
  });

  it.each([
    [''],
    ['   '],
    ['soon'],
    ['-3'],
    ['-3s'],
    ['NaN'],
    ['Infinity'],
    ['1e3'],
    ['5 minutes'],
    ['s'],
    ['10s5m'],
    ['99999999'],
    ['9'.repeat(400)],
    ['2026-11-29'],
    ['2026-11-29T11:59:30Z'],
    ['2026-13-45T99:00:00Z'],
    ['Sun, 29 Nov 2020 12:00:30 GMT'],
    [undefined],
    [null],
  ])('does not know what %p means', value => {
    expect(parseReset(value, NOW)).toBeNull();
  });
});

describe('parseRetryAfter', () => {
  it('never invites an immediate retry', () => {
    expect(parseRetryAfter('0', NOW)).toBeNull();
    expect(parseRetryAfter('0s', NOW)).toBeNull();
    expect(parseRetryAfter('2', NOW)).toBe(2000);
    expect(parseRetryAfterMs('0')).toBeNull();
    expect(parseRetryAfterMs('-5')).toBeNull();
    expect(parseRetryAfterMs('rubbish')).toBeNull();
    expect(parseRetryAfterMs('300')).toBe(300);
  });
});

describe('findResetInText', () => {
  it.each([
    ['You will regain access on 2026-12-01', 36 * 3_600_000],
    ['reset at 2026-11-29 12:00:30', 30_000],
    ['reset at 2026-11-29 20:00:30 +0800 CST, thank you', 30_000],
    ['reset at 2026-11-29T12:00:30Z.', 30_000],
    ['it was over on 2020-01-01', null],
    ['no time at all', null],
  ])('reads %p', (text, expected) => {
    expect(findResetInText(text, NOW)).toBe(expected);
  });
});
