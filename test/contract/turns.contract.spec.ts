/** @alone Where a worker stands still for 400 ms it counts as dead, and what it had reached loses its order. */
import { ClientGone, QueueFull, QueueTimeout, type Priority, type Turn } from '@spillway/contracts';
import { TURN_SYSTEMS, callOf, models, until, type TurnSystem } from '../support/turns';

// A worker that stands still for 400 ms counts as dead, and what it had reached loses its order: not what is asked here.
jest.retryTimes(2, { logErrorsBeforeRetry: true });

describe.each(TURN_SYSTEMS)('Turns: $name', kind => {
  describe.each([true, false])('express: %s', express => {
    let system: TurnSystem;

    beforeEach(async () => {
      system = await kind.start({ express, inflight: { small: 1, large: 5 }, queueLimit: 3 });
    });

    afterEach(() => system.stop());

    const take = (priority: Priority, options: Parameters<typeof callOf>[1] = {}): Promise<Turn> =>
      system.turns.take(callOf(priority, options), models('small'));
    const waiting = (count: number): Promise<void> => until(() => system.waiting(count));

    it('gives a turn for a free model, and the next one when it is closed', async () => {
      const first = await take('normal');
      const second = take('normal');
      await waiting(1);
      first.close('success', { input: 1, output: 2 });
      const turn = await second;
      expect(turn.model.name).toBe('small');
      turn.close('success');
      await until(async () => (await system.inflight())['small'] === 0);
    });

    it('lets CRITICAL overtake what was queued before it, and NORMAL overtake LOW', async () => {
      const order: string[] = [];
      const held = await take('normal');
      const calls = [];
      for (const [index, priority] of (['low', 'normal', 'critical'] as const).entries()) {
        calls.push(
          take(priority).then(turn => {
            order.push(priority);
            turn.close('success');
          }),
        );
        await waiting(index + 1);
      }
      held.close('success');
      await Promise.all(calls);
      expect(order).toEqual(['critical', 'normal', 'low']);
    });

    it('goes by deadline within a class, then by arrival', async () => {
      const order: string[] = [];
      const held = await take('normal');
      const turnBy = Date.now() + 20_000;
      const calls = [];
      for (const [index, [name, waitUntil]] of [
        ['patient', turnBy + 5_000],
        ['first', turnBy],
        ['second', turnBy],
      ].entries()) {
        const call = take('normal', { turnBy: Number(waitUntil) });
        calls.push(
          call.then(turn => {
            order.push(String(name));
            turn.close('success');
          }),
        );
        await waiting(index + 1);
      }
      held.close('success');
      await Promise.all(calls);
      expect(order).toEqual(['first', 'second', 'patient']);
    });

    it('frees one permit for one turn, however often it is closed', async () => {
      const held = await take('normal');
      const second = take('normal');
      await waiting(1);
      const third = take('low', { turnBy: Date.now() + 300 });
      await waiting(2);
      held.close('success');
      held.close('dropped');
      await expect(third).rejects.toBeInstanceOf(QueueTimeout);
      (await second).close('success');
    });

    it('ends a wait whose time is over as QueueTimeout and forgets it', async () => {
      const held = await take('normal');
      const call = callOf('low', { turnBy: Date.now() + 100 });
      const refusal = await system.turns.take(call, models('small')).catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(QueueTimeout);
      expect((refusal as QueueTimeout).retryAfterMs).toBeGreaterThan(0);
      expect(call.journal.queueMs).toBeGreaterThanOrEqual(90);
      await waiting(0);
      held.close('success');
      (await take('low')).close('success');
    });

    it('ends a wait when what is left of its deadline is too short for the answer, as far as it knows', async () => {
      const held = await take('normal');
      const startedAt = Date.now();
      await expect(take('low', { turnBy: startedAt + 300, answerBy: startedAt + 300 })).rejects.toThrow(QueueTimeout);
      expect(Date.now() - startedAt).toBeGreaterThanOrEqual(290);
      held.close('success');
      for (let at = 0; at < 20; at++) {
        const call = callOf('normal');
        const turn = await system.turns.take(call, models('small'));
        call.journal.upstreamMs = 4_000;
        turn.close('success');
      }
      const last = await take('normal');
      const hopeless = callOf('low', { turnBy: Date.now() + 3_000, answerBy: Date.now() + 3_000 });
      await expect(system.turns.take(hopeless, models('small'))).rejects.toThrow(QueueTimeout);
      expect(hopeless.journal.queueMs).toBeLessThan(2_500);
      const patient = take('low', { answerBy: Date.now() + 9_000 });
      await waiting(1);
      last.close('success');
      (await patient).close('success');
      // Where nobody needs to wait nothing is lost by trying.
      const atOnce = await take('low', { turnBy: Date.now() + 2_000, answerBy: Date.now() + 2_000 }).catch(() => null);
      expect(atOnce === null).toBe(!express);
      atOnce?.close('success');
    });

    it('frees the place of a caller that leaves', async () => {
      const held = await take('normal');
      const leaving = new AbortController();
      const gone = take('low', { signal: leaving.signal });
      const others = [take('low'), take('low')];
      await waiting(3);
      leaving.abort(new ClientGone('gone'));
      await expect(gone).rejects.toBeInstanceOf(ClientGone);
      await waiting(2);
      others.push(take('low'));
      await waiting(3);
      held.close('success');
      for (const other of others) (await other).close('success');
    });

    it('refuses exactly what is beyond the limit of the class, and nothing of another class', async () => {
      const held = await take('normal');
      const queued = [take('low'), take('low'), take('low')];
      await waiting(3);
      const refusal = await take('low').catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(QueueFull);
      expect((refusal as QueueFull).retryAfterMs).toBeGreaterThan(0);
      queued.push(take('critical'));
      await waiting(4);
      held.close('success');
      await Promise.all(queued.map(async turn => (await turn).close('success')));
    });

    it('prefers the first model that has room', async () => {
      const first = await system.turns.take(callOf('normal'), models('small', 'large'));
      const second = await system.turns.take(callOf('normal'), models('small', 'large'));
      expect([first.model.name, second.model.name]).toEqual(['small', 'large']);
      first.close('success');
      second.close('success');
    });

    it('spares a turn that nobody waits for, at once or never', async () => {
      const [small, large] = models('small', 'large');
      if (small === undefined || large === undefined) throw new Error('no models');
      const spared = await system.turns.takeSpare(callOf('critical'), small);
      expect(spared?.model.name).toBe('small');
      expect(await system.turns.takeSpare(callOf('critical'), small)).toBeNull();
      const waiter = take('low');
      await waiting(1);
      spared?.close('success', { input: 1, output: 2 });
      (await waiter).close('success');
      await until(async () => (await system.inflight())['small'] === 0);
      const gone = AbortSignal.abort(new ClientGone('gone'));
      expect(await system.turns.takeSpare(callOf('critical', { signal: gone }), large)).toBeNull();
      expect((await system.inflight())['large'] ?? 0).toBe(0);
    });

    it('books a call that has waited with what was learned meanwhile', async () => {
      const held = await take('normal');
      const [supposed, waiter] = [await system.tokens('small'), take('normal')];
      await waiting(1);
      for (let calls = 0; calls < 200; calls++) {
        const turn = await system.turns.take(callOf('normal'), models('large'));
        turn.close('success', { input: 10, output: 10 });
      }
      held.close('success', { input: 10, output: 10 });
      const turn = await waiter;
      await until(async () => (await system.tokens('small')) < 100);
      expect(supposed).toBeGreaterThan(500);
      turn.close('success');
    });

    it('lets calls for one model pass those that wait for another', async () => {
      const held = await take('normal');
      const stuck = [take('normal'), take('normal')];
      await waiting(2);
      const turn = await system.turns.take(callOf('normal'), models('large'));
      expect(turn.model.name).toBe('large');
      turn.close('success');
      held.close('success');
      for (const waiter of stuck) (await waiter).close('success');
    });
  });
});
