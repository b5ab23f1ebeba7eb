import fc from 'fast-check';
import { jobPriority } from './job-priority';

const BULLMQ_LIMIT = 2 ** 21;
const NOW = Date.UTC(2026, 10, 29);

describe('jobPriority', () => {
  it('is never absent, zero or beyond what BullMQ takes (E14)', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 8.64e15, noNaN: true }), turnBy => {
        const priority = jobPriority(turnBy);
        expect(Number.isInteger(priority)).toBe(true);
        expect(priority).toBeGreaterThanOrEqual(1);
        expect(priority).toBeLessThan(BULLMQ_LIMIT);
      }),
    );
  });

  it('puts the earlier deadline first', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 600_000 }), fc.integer({ min: 100, max: 600_000 }), (wait, more) => {
        expect(jobPriority(NOW + wait)).toBeLessThan(jobPriority(NOW + wait + more));
      }),
    );
  });
});
