/** Ids of waits. They name their owner, so that whoever is handed a grant knows whom to tell. */
export class TicketIds {
  private counter = 0;

  constructor(private readonly owner: string) {}

  next(): string {
    this.counter += 1;
    return `t-${this.owner}-${this.counter.toString(36)}`;
  }
}

/** The process that made the ticket. */
export function ownerOf(ticket: string): string {
  return ticket.slice(2, ticket.lastIndexOf('-'));
}
