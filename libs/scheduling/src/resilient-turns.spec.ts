import { Journal, QueueFull, Turns, type Call, type Turn } from '@spillway/contracts';
import { RedisUnavailable } from '@spillway/redis';
import { callOf } from '../../../test/support/turns';
import { ResilientTurns } from './resilient-turns';

const turnOf = (name: string): Turn => ({ model: { name } as Turn['model'], close: () => undefined });

class Shared extends Turns {
  fails: Error | null = null;
  asked = 0;

  async take(): Promise<Turn> {
    this.asked += 1;
    if (this.fails !== null) throw this.fails;
    return turnOf('shared');
  }

  async takeSpare(): Promise<Turn> {
    return turnOf('spare');
  }
}

class Local extends Turns {
  readonly adopted: string[] = [];

  async take(): Promise<Turn> {
    return turnOf('local');
  }

  async takeSpare(): Promise<null> {
    return null;
  }

  adopt(_: Call, turn: Turn): Turn {
    this.adopted.push(turn.model.name);
    return turn;
  }
}

describe('turns that outlive Redis', () => {
  const call = (): Call => Object.assign(callOf('normal'), { journal: new Journal() });
  const world = (lost = false) => {
    const [shared, local] = [new Shared(), new Local()];
    return { shared, local, turns: new ResilientTurns({ turns: shared, lost }, local) };
  };

  it('are shared ones, which count here, too', async () => {
    const { turns, local } = world();
    const asked = call();
    expect((await turns.take(asked, [])).model.name).toBe('shared');
    expect((await turns.takeSpare(asked, turnOf('m').model))?.model.name).toBe('spare');
    expect(local.adopted).toEqual(['shared', 'spare']);
    expect(asked.journal.limitsAreLocal).toBe(false);
  });

  it.each([true, false])('are those of this process while it is lost, known before (%p) or not', async lost => {
    const { turns, shared, local } = world(lost);
    shared.fails = new RedisUnavailable('timeout');
    const asked = call();
    expect((await turns.take(asked, [])).model.name).toBe('local');
    expect([local.adopted, asked.journal.limitsAreLocal, shared.asked]).toEqual([[], true, lost ? 0 : 1]);
  });

  it('are none to spare while it is lost: nobody knows what others want', async () => {
    const { turns } = world(true);
    expect(await turns.takeSpare(call(), turnOf('m').model)).toBeNull();
  });

  it('are refused where all processes together refuse, and never tried alone after that', async () => {
    const { turns, shared } = world();
    shared.fails = new QueueFull('full');
    const asked = call();
    await expect(turns.take(asked, [])).rejects.toBe(shared.fails);
    expect(asked.journal.limitsAreLocal).toBe(false);
  });
});
