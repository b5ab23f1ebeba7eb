import { ManualClock } from '../../../test/support/manual-clock';
import { Company } from './company';

describe('company', () => {
  const clock = new ManualClock();

  it('is there while others are counted, and a while after', () => {
    const count = { processes: 1 };
    const company = new Company(count, clock);
    expect(company.isThere).toBe(false);
    count.processes = 2;
    expect(company.isThere).toBe(true);
    count.processes = 1;
    clock.time += 2_000;
    expect(company.isThere).toBe(true);
    clock.time += 1_500;
    expect(company.isThere).toBe(false);
  });

  it('is there from the moment at which another says so, longer than it takes to be counted', () => {
    const company = new Company({ processes: 1 }, clock);
    company.sign();
    clock.time += 2_000;
    expect(company.isThere).toBe(true);
    clock.time += 2_000;
    expect(company.isThere).toBe(false);
  });
});
