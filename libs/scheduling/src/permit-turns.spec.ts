import { Journal, QueueTimeout, ShuttingDown, SystemClock, type Call, type ModelSettings } from '@spillway/contracts';
import { ServiceTimes, TicketIds, TokenEstimator, type Entry, type Permits } from '@spillway/quota';
import { callOf, models } from '../../../test/support/turns';
import { MemoryTurns } from './memory-turns';
import { OpenTurns } from './open-turns';
import { WaitingRoom } from './waiting-room';

const QUEUED: Entry = { kind: 'queued', ahead: 0, estimateMs: null, freeInMs: 0, binds: 'inflight' };

/** Turns by permits that answer as a test says. */
class World {
  readonly withdrawn: string[] = [];
  entry: Promise<Entry> = Promise.resolve(QUEUED);
  readonly turns: MemoryTurns;
  private readonly clock = new SystemClock();

  constructor() {
    const permits = {
      enter: () => this.entry,
      reach: async () => ({ kind: 'waiting' }),
      withdraw: async (ticket: string) => void this.withdrawn.push(ticket),
      onGrant: () => undefined,
    } as unknown as Permits;
    const scheduling = { express: true, worker_concurrency: 1 };
    const limit = { queue_limit: 10 };
    const priorities = { critical: limit, normal: limit, low: limit };
    const times = { lease_ms: 10_000, claim_ms: 10_000 };
    const open = new OpenTurns(permits, this.clock, times, () => undefined);
    this.turns = new MemoryTurns(
      {
        processId: 'p',
        permits,
        estimator: new TokenEstimator(),
        adaptive: { learn: () => undefined },
        times: new ServiceTimes(),
        clock: this.clock,
        settings: { current: { scheduling, priorities } },
        tickets: new TicketIds('p'),
        open,
        room: new WaitingRoom(this.clock),
      },
      { adopt: () => () => undefined },
    );
  }

  take(waitMs: number, asked: readonly ModelSettings[] = models('m')): Promise<unknown> {
    const call: Call = callOf('normal', { turnBy: this.clock.now() + waitMs });
    return this.turns.take(Object.assign(call, { journal: new Journal() }), asked);
  }
}

describe('a call that waits for its turn', () => {
  let world: World;
  beforeEach(() => (world = new World()));
  afterEach(() => {
    world.turns.stop();
    world.turns.leave();
  });

  it('is told at once where its turn is expected too late, and waits no longer', async () => {
    world.entry = Promise.resolve({ ...QUEUED, estimateMs: 90_000, freeInMs: 2_000 });
    const refusal = await world.take(60_000).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(QueueTimeout);
    expect(refusal).toMatchObject({ retryAfterMs: 90_000 });
    expect(world.withdrawn).toEqual(['t-p-1']);
  });

  it('is sent away where its process stops while it registers', async () => {
    let enter: (entry: Entry) => void = () => undefined;
    world.entry = new Promise(resolve => (enter = resolve));
    const taking = world.take(60_000);
    world.turns.stop();
    enter(QUEUED);
    await expect(taking).rejects.toBeInstanceOf(ShuttingDown);
    expect(world.withdrawn).toEqual(['t-p-1']);
  });
});
