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

  it('says once that no worker is there, until one is seen', async () => {
    jest.useFakeTimers();
    const room = new WaitingRoom(clock);
    const wait = room.wait({
      request: request('t-one'),
      signal: new AbortController().signal,
      retryAfterMs: () => 1,
      accept: () => ({ model: { name: 'm' } }) as Turn,
    });
    let kind: 'queued' | 'reached' = 'queued';
    const report = jest.fn();
    const rescue = { receive: jest.fn(), enterAgain: jest.fn(), sendAgain: jest.fn() };
    const watchdog = new Watchdog({ inspect: async () => [{ ticket: 't-one', kind }] }, room, rescue, report);
    await jest.advanceTimersByTimeAsync(2_500);
    expect(report).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(10_000);
    expect(report).toHaveBeenCalledTimes(1);
    expect(report).toHaveBeenCalledWith(expect.stringContaining('no worker'), null);
    kind = 'reached';
    await jest.advanceTimersByTimeAsync(500);
    kind = 'queued';
    await jest.advanceTimersByTimeAsync(10_000);
    expect(report).toHaveBeenCalledTimes(2);
    watchdog.stop();
    jest.useRealTimers();
    room.failAll(new Error('over'));
    await expect(wait).rejects.toThrow('over');
  });
});
