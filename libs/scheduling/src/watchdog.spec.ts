import { SystemClock, type Turn } from '@spillway/contracts';
import type { Grant, TicketState, WaitRequest } from '@spillway/quota';
import { WaitingRoom } from './waiting-room';
import { Watchdog } from './watchdog';

const clock = new SystemClock();

function request(ticket: string): WaitRequest {
  return { ticket, owner: 'me', priority: 'normal', models: ['m'], turnBy: clock.now() + 60_000, tokens: 0 };
}

describe('Watchdog', () => {
  it('takes what was granted, queues what nobody reached, enters what is unknown, and leaves the rest alone', async () => {
    const grant: Grant = { ticket: 't-granted', model: 'm', lease: 'one' };
    const states: TicketState[] = [
      { ticket: 't-granted', kind: 'granted', grant },
      { ticket: 't-queued', kind: 'queued' },
      { ticket: 't-reached', kind: 'reached' },
      { ticket: 't-gone', kind: 'gone' },
      { ticket: 't-left-meanwhile', kind: 'gone' },
    ];
    const room = new WaitingRoom(clock);
    const { signal } = new AbortController();
    const accept = (): Turn => ({ model: { name: 'm' } }) as Turn;
    const waits = states.map(({ ticket }) =>
      room.wait({ request: request(ticket), signal, retryAfterMs: () => 1, accept }),
    );
    const rescued: string[] = [];
    const done = new Promise<void>(resolve => {
      const inspect = async (tickets: readonly string[]): Promise<TicketState[]> => {
        expect(tickets).toEqual(states.map(({ ticket }) => ticket));
        room.fail('t-left-meanwhile', new Error('left'));
        return states;
      };
      const watchdog = new Watchdog(
        { inspect },
        room,
        {
          receive: ({ ticket }) => void rescued.push(`received ${ticket}`),
          enterAgain: async ({ ticket }) => void rescued.push(`entered ${ticket}`),
          sendAgain: async requests => {
            rescued.push(...requests.map(({ ticket }) => `sent ${ticket}`));
            watchdog.stop();
            resolve();
          },
        },
        (problem, error) => rescued.push(`${problem}: ${String(error)}`),
      );
    });
    await done;
    expect(rescued).toEqual(['received t-granted', 'entered t-gone', 'sent t-queued']);
    room.failAll(new Error('over'));
    await Promise.allSettled(waits);
  });
});
