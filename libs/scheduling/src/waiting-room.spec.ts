import { ClientGone, DeadlineExceeded, QueueTimeout, SystemClock, type Turn } from '@spillway/contracts';
import type { Grant, WaitRequest } from '@spillway/quota';
import { WaitingRoom } from './waiting-room';

const clock = new SystemClock();

function request(ticket: string, waitMs = 60_000): WaitRequest {
  const turnBy = clock.now() + waitMs;
  return { ticket, owner: 'me', priority: 'normal', models: ['m'], turnBy, tokens: 0 };
}

const grant = (ticket: string): Grant => ({ ticket, model: 'm', lease: `lease-of-${ticket}` });

const turn = { model: { name: 'm' } } as Turn;
const never = new AbortController().signal;

function wait(
  room: WaitingRoom,
  request: WaitRequest,
  signal = never,
  accept = (_grant: Grant): Turn => turn,
): Promise<Turn> {
  return room.wait({ request, signal, retryAfterMs: () => 1_234, accept });
}

describe('WaitingRoom', () => {
  it('hands a grant to its wait once', async () => {
    const room = new WaitingRoom(clock);
    const accepted: Grant[] = [];
    const waiting = wait(room, request('t-1'), never, granted => {
      accepted.push(granted);
      return turn;
    });
    expect(room.admit(grant('t-1'))).toBe(true);
    expect(accepted).toEqual([grant('t-1')]);
    expect(room.admit(grant('t-1'))).toBe(false);
    await expect(waiting).resolves.toBe(turn);
  });

  it('ends a wait whose grant cannot be accepted with the reason', async () => {
    const room = new WaitingRoom(clock);
    const waiting = wait(room, request('t-1'), never, () => {
      throw new Error('of a model that was not asked for');
    });
    expect(room.admit(grant('t-1'))).toBe(true);
    await expect(waiting).rejects.toThrow('not asked for');
    expect(room.find('t-1')).toBeUndefined();
  });

  it('ends a wait when its time is over, with a hint when to come back', async () => {
    const room = new WaitingRoom(clock);
    const refusal = await wait(room, request('t-1', 20)).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(QueueTimeout);
    expect(refusal).toMatchObject({ retryAfterMs: 1_234 });
    expect(room.admit(grant('t-1'))).toBe(false);
  });

  it.each([
    ['a caller that leaves ends it as that', new ClientGone('gone'), ClientGone],
    ['a deadline that passes in the queue expires there', new DeadlineExceeded('late'), QueueTimeout],
  ])('%s', async (_name, reason, expected) => {
    const room = new WaitingRoom(clock);
    const controller = new AbortController();
    const waiting = wait(room, request('t-1'), controller.signal);
    controller.abort(reason);
    await expect(waiting).rejects.toBeInstanceOf(expected);
    await expect(wait(room, request('t-2'), controller.signal)).rejects.toBeInstanceOf(expected);
    expect(room.find('t-1')).toBeUndefined();
    expect(room.find('t-2')).toBeUndefined();
  });

  it('names the waits that were not looked at for a while, all of them in turn', async () => {
    let now = 0;
    const room = new WaitingRoom({ now: () => now });
    const waits = ['t-1', 't-2', 't-3'].map(ticket => wait(room, { ...request(ticket), turnBy: 60_000 }));
    expect(room.due(2, 500)).toEqual([]);
    now = 500;
    expect(room.due(2, 500)).toEqual(['t-1', 't-2']);
    expect(room.due(2, 500)).toEqual(['t-3']);
    expect(room.due(2, 500)).toEqual([]);
    room.failAll(new Error('over'));
    expect((await Promise.allSettled(waits)).map(({ status }) => status)).toEqual(Array(3).fill('rejected'));
  });
});
