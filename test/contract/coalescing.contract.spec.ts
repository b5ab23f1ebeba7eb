import { Neighbours } from '@spillway/coalescing';
import { ClientGone, QueueTimeout, SystemClock, UpstreamError, type KeyedCall } from '@spillway/contracts';
import { RedisChannels, RedisConnections, RedisGuard } from '@spillway/redis';
import { until } from '../support/api-client';
import { Below, type Caller, type Run } from '../support/coalescing';
import { redisTimeoutMs } from '../support/open-redis';
import { startRedis, type RedisServer } from '../support/redis-server';

/** One of several processes on a Redis, as far as coalescing goes. */
class Process {
  readonly connections: RedisConnections;
  readonly guard: RedisGuard;
  readonly below: Below;
  private readonly neighbours: Neighbours;
  private isStopped = false;

  constructor(
    url: string,
    prefix: string,
    readonly count = { processes: 2 },
  ) {
    this.connections = new RedisConnections({ url, prefix, timeoutMs: redisTimeoutMs(url) });
    this.guard = new RedisGuard(this.connections);
    const channels = new RedisChannels(this.connections);
    this.neighbours = new Neighbours(
      { connections: this.connections, guard: this.guard, channels, count },
      new SystemClock(),
    );
    this.below = new Below({}, undefined, this.neighbours);
  }

  async start(): Promise<this> {
    await this.connections.onModuleInit();
    await this.guard.onModuleInit();
    this.neighbours.onApplicationBootstrap();
    return this;
  }

  /** Nothing of it is heard any more, as after a SIGKILL. */
  async stop(): Promise<void> {
    if (this.isStopped) return;
    this.isStopped = true;
    this.neighbours.beforeApplicationShutdown();
    this.guard.onApplicationShutdown();
    await this.connections.onApplicationShutdown();
  }

  ask(changes: Partial<KeyedCall> = {}): Caller {
    return this.below.ask(changes);
  }

  /** The work that is being done here. */
  async run(position = 0): Promise<Run> {
    await until(() => this.below.runs.length > position);
    return this.below.runs[position] as Run;
  }
}

let prefixes = 0;
const processes: Process[] = [];

const newPrefix = (): string => `coalescing-${process.pid}-${++prefixes}`;
const REDIS = process.env['SPILLWAY_TEST_REDIS_URL'] ?? '';

async function start(count: number, url = REDIS): Promise<Process[]> {
  const prefix = newPrefix();
  const started = await Promise.all(Array.from({ length: count }, () => new Process(url, prefix).start()));
  processes.push(...started);
  return started;
}

afterEach(() => Promise.all(processes.splice(0).map(one => one.stop())));

const ended = (...callers: Caller[]): Promise<void> => until(() => callers.every(({ ends }) => ends > 0));
/** Enough for a message to arrive, or for one that should not come. */
const moment = (): Promise<void> => new Promise(resolve => setTimeout(resolve, 250));
const keysLike = (one: Process, pattern: string): Promise<string[]> =>
  one.connections.get('commands').keys(`${one.connections.prefix}:${pattern}`);

describe('equal calls in several processes', () => {
  it('share one call of the model, whatever shape they ask for', async () => {
    const [one, two, three] = (await start(3)) as [Process, Process, Process];
    const leader = one.ask();
    const run = await one.run();
    const others = [two.ask(), two.ask({ streaming: false }), three.ask({ streaming: false }), three.ask(), one.ask()];
    await moment();
    run.callModel('m');
    run.begin();
    run.say('one ');
    await until(() => others[0]?.heard === 'one ');
    run.say('two');
    run.finish({ input: 3, output: 2 });
    await ended(leader, ...others);

    expect([leader, ...others].map(({ heard, error }) => [heard, error])).toEqual(Array(6).fill(['one two', null]));
    expect(others.map(({ answer }) => answer?.outcome)).toEqual(Array(5).fill('coalesced'));
    expect([two.below.runs, three.below.runs]).toEqual([[], []]);
    for (const { call } of others) {
      expect(call.journal).toMatchObject({ cache: 'COALESCED', model: 'm', attempts: 0, usage: null });
      expect(call.journal.saved).toEqual({ input: 3, output: 2 });
    }
    await until(async () => (await keysLike(one, 'coalesce:lead:*')).length === 0);
  });

  it('are led by nobody while a process is alone, and from the moment at which another comes', async () => {
    const prefix = newPrefix();
    const lonely = await new Process(REDIS, prefix, { processes: 1 }).start();
    processes.push(lonely);
    lonely.ask({ cacheKey: 'alone' });
    const alone = await lonely.run();
    await moment();
    expect(await keysLike(lonely, 'coalesce:lead:*')).toEqual([]);
    processes.push(await new Process(REDIS, prefix).start());
    await moment();
    lonely.ask({ cacheKey: 'beside' });
    const beside = await lonely.run(1);
    expect(await keysLike(lonely, 'coalesce:lead:*')).toHaveLength(1);
    for (const run of [alone, beside]) {
      run.begin();
      run.finish({ input: 1, output: 1 });
    }
  });

  it('get the answer from its start, however late they come', async () => {
    const [one, two] = (await start(2)) as [Process, Process];
    const leader = one.ask();
    const run = await one.run();
    run.begin();
    run.say('one ');
    await until(() => leader.heard === 'one ');
    const late = two.ask();
    await until(() => late.heard === 'one ');
    run.say('two');
    run.finish();
    await ended(leader, late);
    expect([late.heard, two.below.runs.length]).toEqual(['one two', 0]);
  });

  it('are relayed only while another process follows', async () => {
    const [one] = (await start(1)) as [Process];
    const callers = [one.ask(), one.ask()];
    const run = await one.run();
    run.begin();
    run.say('one');
    run.finish();
    await ended(...callers);
    expect(await keysLike(one, 'coalesce:parts:*')).toEqual([]);
  });

  it('of the same process that come later are made anew', async () => {
    const [one] = (await start(1)) as [Process];
    for (const position of [0, 1, 2]) {
      one.below.clock.time += 1;
      const caller = one.ask();
      const run = await one.run(position);
      run.begin();
      run.finish();
      await ended(caller);
      expect(caller.answer?.outcome).toBe('generated');
    }
  });
});

interface Followed {
  readonly two: Process;
  readonly leader: Caller;
  readonly run: Run;
  readonly follower: Caller;
}

/** A call that is followed from another process, and the work that both wait for. */
async function followed(): Promise<Followed> {
  const [one, two] = (await start(2)) as [Process, Process];
  const leader = one.ask();
  const run = await one.run();
  const follower = two.ask();
  await moment();
  return { two, leader, run, follower };
}

describe('leaving', () => {
  it('of the leader leaves the work to those who follow elsewhere', async () => {
    const { two, leader, run, follower } = await followed();
    leader.leave(new ClientGone('gone'));
    await ended(leader);
    expect(run.isAborted).toBe(false);
    run.begin();
    run.say('one');
    run.finish();
    await ended(follower);
    expect([follower.heard, two.below.runs.length]).toEqual(['one', 0]);
  });

  it('of all who follow is noticed, and the last one of all ends the work', async () => {
    const { leader, run, follower } = await followed();
    follower.leave(new ClientGone('gone'));
    await ended(follower);
    expect(run.isAborted).toBe(false);
    leader.leave(new ClientGone('gone'));
    await until(() => run.isAborted);
  });
});

describe('the end of the work', () => {
  /** A follower that only falls silent is waited for, for two seconds. */
  const SOON_MS = 1_700;
  const untilAborted = async (run: Run): Promise<number> => {
    const startedAt = Date.now();
    await until(() => run.isAborted);
    return Date.now() - startedAt;
  };

  it.each(['leader first', 'follower first'])('comes at once when all have left: %s', async order => {
    const { leader, run, follower } = await followed();
    const callers = order === 'leader first' ? [leader, follower] : [follower, leader];
    for (const caller of callers) {
      expect(run.isAborted).toBe(false);
      caller.leave(new ClientGone('gone'));
      await ended(caller);
      await moment();
    }
    expect(await untilAborted(run)).toBeLessThan(SOON_MS);
  });

  it('comes at once when all have left in the middle of the answer', async () => {
    const { leader, run, follower } = await followed();
    run.callModel('m');
    run.begin();
    run.say('half');
    await until(() => follower.heard === 'half');
    leader.leave(new ClientGone('gone'));
    await ended(leader);
    follower.leave(new ClientGone('gone'));
    expect(await untilAborted(run)).toBeLessThan(SOON_MS);
  });

  it('does not come while a follower has only been followed by another', async () => {
    const [one, two] = (await start(2)) as [Process, Process];
    const leader = one.ask();
    const run = await one.run();
    const first = two.ask();
    await moment();
    first.leave(new ClientGone('gone'));
    await ended(first);
    const second = two.ask();
    await moment();
    leader.leave(new ClientGone('gone'));
    run.callModel('m');
    run.begin();
    run.say('one');
    run.finish();
    await ended(second);
    expect([second.heard, two.below.runs.length]).toEqual(['one', 0]);
  });
});

describe('a leader elsewhere', () => {
  it('that fails lets its followers go on, of whom one leads', async () => {
    const [one, two, three] = (await start(3)) as [Process, Process, Process];
    const leader = one.ask();
    const run = await one.run();
    const followers = [two.ask(), three.ask()];
    await moment();
    run.fail(new UpstreamError('down'));
    await until(() => two.below.runs.length + three.below.runs.length === 1);
    const next = [...two.below.runs, ...three.below.runs][0];
    await moment();
    next?.begin();
    next?.say('one');
    next?.finish();
    await ended(leader, ...followers);
    expect(leader.error).toBeInstanceOf(UpstreamError);
    expect(followers.map(({ heard }) => heard)).toEqual(['one', 'one']);
    expect(new Set(followers.map(({ answer }) => answer?.outcome))).toEqual(new Set(['coalesced', 'generated']));
    expect(two.below.runs.length + three.below.runs.length).toBe(1);
  });

  it('that breaks off after its first content ends its followers with it', async () => {
    const [one, two] = (await start(2)) as [Process, Process];
    one.ask();
    const run = await one.run();
    const follower = two.ask();
    await moment();
    run.begin();
    run.say('one');
    await until(() => follower.heard === 'one');
    run.breakOff(new UpstreamError('broken'));
    await ended(follower);
    expect(follower.error).toBeInstanceOf(UpstreamError);
  });

  it('that dies frees the key within two seconds', async () => {
    const [one, two] = (await start(2)) as [Process, Process];
    one.ask();
    await one.run();
    const follower = two.ask();
    await moment();
    const diedAt = Date.now();
    await one.stop();
    const run = await two.run();
    expect(Date.now() - diedAt).toBeLessThan(6_000);
    run.begin();
    run.finish();
    await ended(follower);
    expect(follower.answer?.outcome).toBe('generated');
  });

  it('of a lower class is not waited for', async () => {
    const [one, two] = (await start(2)) as [Process, Process];
    one.ask({ priority: 'low' });
    await one.run();
    two.ask({ priority: 'critical' });
    expect((await two.run()).call.priority).toBe('critical');
  });

  it('that is overtaken by a higher class of its own process is followed on', async () => {
    const [one, two] = (await start(2)) as [Process, Process];
    const low = one.ask({ priority: 'low' });
    await one.run();
    const follower = two.ask({ priority: 'low' });
    await moment();
    const critical = one.ask({ priority: 'critical' });
    const run = await one.run(1);
    await new Promise(resolve => setTimeout(resolve, 600));
    run.begin();
    run.say('one');
    run.finish();
    await ended(low, follower, critical);
    expect([low, follower, critical].map(({ heard }) => heard)).toEqual(['one', 'one', 'one']);
    expect(two.below.runs).toHaveLength(0);
  });

  it('whose answer is too long to be joined is not waited for', async () => {
    const [one, two] = (await start(2)) as [Process, Process];
    const leader = one.ask();
    const run = await one.run();
    run.begin();
    run.say('x'.repeat(20_000));
    await until(() => leader.heard.length > 0);
    two.ask();
    expect((await two.run()).isAborted).toBe(false);
  });

  it('is waited for no longer than for a turn, until a model is called', async () => {
    const [one, two] = (await start(2)) as [Process, Process];
    one.ask();
    const run = await one.run();
    const impatient = two.ask({ turnBy: Date.now() + 150 });
    const patient = two.ask();
    await ended(impatient);
    expect(impatient.error).toBeInstanceOf(QueueTimeout);
    run.callModel('m');
    const calling = two.ask({ turnBy: Date.now() + 600 });
    await new Promise(resolve => setTimeout(resolve, 800));
    run.begin();
    run.finish();
    await ended(calling, patient);
    expect([calling.error, patient.error, two.below.runs.length]).toEqual([null, null, 0]);
  });
});

describe('without Redis', () => {
  let server: RedisServer;

  beforeEach(async () => {
    server = await startRedis();
  });
  afterEach(() => server.stop());

  it.each(['SIGSTOP', 'SIGKILL'] as const)('each process shares by itself, and nothing fails (%s)', async signal => {
    const [one, two] = (await start(2, server.url)) as [Process, Process];
    server.kill(signal);
    const callers = [one.ask(), one.ask(), two.ask(), two.ask()];
    for (const each of [one, two]) {
      const run = await each.run();
      run.begin();
      run.say('one');
      run.finish();
    }
    await ended(...callers);
    expect(callers.map(({ heard, error }) => [heard, error])).toEqual(Array(4).fill(['one', null]));
    expect([one.below.runs.length, two.below.runs.length]).toEqual([1, 1]);
  });

  it('who waits for another process goes on', async () => {
    const [one, two] = (await start(2, server.url)) as [Process, Process];
    one.ask();
    await one.run();
    const follower = two.ask();
    await moment();
    server.kill('SIGKILL');
    const run = await two.run();
    run.begin();
    run.finish();
    await ended(follower);
    expect(follower.error).toBeNull();
  });
});
