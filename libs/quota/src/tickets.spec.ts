import { TicketIds, ownerOf } from './tickets';

describe('tickets', () => {
  it('never repeat, are safe as job ids and name their owner', () => {
    const ids = new TicketIds('host-1-a7');
    const made = Array.from({ length: 100 }, () => ids.next());
    expect(new Set(made).size).toBe(100);
    for (const ticket of made) {
      expect(ticket).toMatch(/^t-[A-Za-z0-9_-]+$/);
      expect(ownerOf(ticket)).toBe('host-1-a7');
    }
  });
});
