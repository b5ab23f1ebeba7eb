import type { ModelLimits, Shares } from './limits';
import { TermsBook } from './terms';

describe('the terms of a model', () => {
  const limits: ModelLimits = { limits: { rpm: 100, tpm: 0, tpd: 0, inflight: 0 }, headroom: 0.2 };
  const sharesOf = (low: number): Shares => {
    const all = { share: 1, min_share: 0 };
    return { critical: all, normal: all, low: { share: low, min_share: 0 } };
  };

  it('are worked out once, and anew when limits or shares are others', () => {
    const now = { limits, shares: sharesOf(0.5) };
    const book = new TermsBook({ limitsOf: () => now.limits, shares: () => now.shares });
    const first = book.of('m');
    expect([first.rpm, first.share]).toEqual([80, [1, 1, 0.5]]);
    expect(book.of('m')).toBe(first);
    now.shares = sharesOf(0.7);
    expect(book.of('m').share).toEqual([1, 1, 0.7]);
    expect(JSON.parse(book.json('m'))).toMatchObject({ share: [1, 1, 0.7] });
    now.limits = { ...limits, headroom: 0 };
    expect(book.of('m').rpm).toBe(100);
  });
});
