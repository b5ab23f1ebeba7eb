import { CoalesceStage, type Neighbours } from '@spillway/coalescing';
import {
  chunkPart,
  type Answer,
  type AnswerPart,
  type JsonObject,
  type KeyedCall,
  type Outcome,
  type RouteSettings,
  type SpillwayError,
  type Usage,
} from '@spillway/contracts';
import { DegradeStage } from '@spillway/degradation';
import { cacheableCall } from './cached-calls';
import { ManualClock } from './manual-clock';

let calls = 0;

/** A call of a route that caches, under a key. */
export function shareableCall(changes: Partial<KeyedCall> = {}): KeyedCall {
  const call = { cacheKey: 'key', ...cacheableCall({ id: `call-${++calls}`, streaming: true }), ...changes };
  if (call.cacheKey !== null) call.journal.cache = 'MISS';
  return call;
}

/** Lets everything happen that waits for nothing but its turn. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise(resolve => setImmediate(resolve));
}

type Item = AnswerPart | { readonly failure: unknown } | null;

/** Work that was asked of the stages below: a test decides how it goes. */
export class Run {
  isLeft = false;
  /** Whether it has failed or said all it had to say. */
  isOver = false;
  said = '';
  private readonly items: Item[] = [];
  private wake: () => void = () => undefined;
  private settle: { resolve(answer: Answer): void; reject(error: unknown): void } | null = null;

  constructor(readonly call: KeyedCall) {}

  get isAborted(): boolean {
    return this.call.signal.aborted;
  }

  get hasBegun(): boolean {
    return this.settle === null;
  }

  /** What `next` gives: aborting the call ends it, as it does below. */
  answer(): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.settle = { resolve, reject };
      this.call.signal.addEventListener('abort', () => {
        // Later, as real work needs a moment to end.
        setImmediate(() => this.fail(this.call.signal.reason));
        this.push({ failure: this.call.signal.reason });
      });
    });
  }

  callModel(model: string): void {
    this.call.journal.attempts += 1;
    this.call.journal.model = model;
  }

  begin(outcome: Outcome = 'generated'): void {
    const parts = { [Symbol.asyncIterator]: () => ({ next: () => this.take(), return: () => this.return() }) };
    this.settle?.resolve({ outcome, parts });
    this.settle = null;
  }

  fail(error: unknown): void {
    this.isOver = true;
    this.settle?.reject(error);
    this.settle = null;
  }

  say(content: string): void {
    this.said += content;
    this.push(chunkPart({ choices: [{ index: 0, delta: { content } }] }));
  }

  finish(usage: Usage | null = null): void {
    this.isOver = true;
    this.call.journal.usage = usage;
    this.push(null);
  }

  breakOff(failure: unknown): void {
    this.isOver = true;
    this.push({ failure });
  }

  private push(item: Item): void {
    this.items.push(item);
    this.wake();
  }

  private async take(): Promise<IteratorResult<AnswerPart>> {
    while (this.items.length === 0) await new Promise<void>(resolve => (this.wake = resolve));
    const item = this.items.shift();
    if (item === null || item === undefined) return { done: true, value: undefined };
    if ('failure' in item) throw item.failure as Error;
    return { done: false, value: item };
  }

  private async return(): Promise<IteratorResult<AnswerPart>> {
    this.isLeft = true;
    return { done: true, value: undefined };
  }
}

/** A caller that reads what it is given. */
export class Caller {
  answer: Answer | null = null;
  error: unknown = null;
  heard = '';
  /** How often it came to an end: by its last part or an error. */
  ends = 0;

  constructor(
    readonly call: KeyedCall,
    private readonly controller: AbortController,
  ) {}

  leave(reason: SpillwayError): void {
    this.controller.abort(reason);
  }

  async read(answering: Promise<Answer>, reads: boolean): Promise<void> {
    try {
      this.answer = await answering;
      if (!reads) return;
      for await (const { body } of this.answer.parts) this.heard += textOf(body);
    } catch (error) {
      this.error = error;
    }
    this.ends += 1;
  }
}

function textOf(body: JsonObject): string {
  const [choice] = body['choices'] as unknown as [Record<'delta' | 'message', { content: string } | undefined>];
  return (choice.delta ?? choice.message)?.content ?? '';
}

type CacheSettings = ConstructorParameters<typeof CoalesceStage>[0]['current']['cache'];

/** The stage between what stands above it and below it, as far as tests go: the fallback texts, and work that they steer. */
export class Below {
  readonly runs: Run[] = [];
  readonly clock = new ManualClock(Date.now());
  readonly counted: Record<string, number> = {};
  private readonly degrade = new DegradeStage(this.clock);
  private readonly stage: CoalesceStage;

  constructor(
    cache: Partial<CacheSettings> = {},
    private readonly fallbacks: RouteSettings['fallback_response'] = { critical: null, normal: null, low: null },
    neighbours: Neighbours | null = null,
  ) {
    const lookup = (_: string, result: string): void => {
      this.counted[result] = (this.counted[result] ?? 0) + 1;
    };
    const settings = { coalesce: true, max_item_bytes: 10_000, ...cache };
    this.stage = new CoalesceStage({ current: { cache: settings } }, this.clock, { lookup }, neighbours);
  }

  /** The only work there is. */
  get only(): Run {
    const [run, ...others] = this.runs;
    if (run === undefined || others.length > 0) throw new Error(`there are ${this.runs.length} runs`);
    return run;
  }

  /** All that was said in full, and the fallback texts. */
  get texts(): (string | null)[] {
    return [...this.runs.map(({ said }) => said), ...Object.values(this.fallbacks)];
  }

  call(changes: Partial<KeyedCall> = {}): KeyedCall {
    const call = shareableCall({ receivedAt: this.clock.time, turnBy: this.clock.time + 60_000, ...changes });
    const isOwnRoute = changes.route !== undefined;
    return isOwnRoute ? call : { ...call, route: { ...call.route, fallback_response: this.fallbacks } };
  }

  ask({ reads = true, ...changes }: Partial<KeyedCall> & { readonly reads?: boolean } = {}): Caller {
    const controller = new AbortController();
    const call = { ...this.call(changes), signal: controller.signal };
    const caller = new Caller(call, controller);
    const answering = this.degrade.handle(call, copy =>
      this.stage.handle(copy as KeyedCall, under => this.work(under)),
    );
    void caller.read(answering, reads);
    return caller;
  }

  private work(call: KeyedCall): Promise<Answer> {
    if (call.signal.aborted) return Promise.reject(call.signal.reason as Error);
    const run = new Run(call);
    this.runs.push(run);
    return run.answer();
  }
}
