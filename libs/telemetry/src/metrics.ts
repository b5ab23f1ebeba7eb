import { Counter, Gauge, Registry, collectDefaultMetrics } from 'prom-client';
import type { Journal, Operation, Outcome, Priority, Usage } from '@spillway/contracts';
import { Distribution } from './distribution';
import { Tally, type Adds } from './tally';

const LATENCY_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];
/** Buckets that the OpenTelemetry GenAI semantic conventions advise. */
const GENAI_SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const GENAI_TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864];

export type ServiceState = 'closed' | 'open' | 'half-open' | 'degraded';
const STATE_VALUES: Record<ServiceState, number> = { closed: 0, open: 1, 'half-open': 2, degraded: 3 };

export interface UpstreamCall {
  /** The model's configured name, or the shared label of unconfigured ones. */
  readonly model: string;
  readonly provider: string;
  readonly operation: Operation;
  /** An HTTP status, or the kind of failure where there was none. */
  readonly status: string;
  readonly seconds: number;
  readonly firstContentSeconds: number | null;
  readonly usage: Usage | null;
  /** Money per million tokens; null: unknown. */
  readonly price: Usage | null;
}

export interface ModelGauges {
  readonly inflight: number;
  readonly limits: readonly { readonly limit: string; readonly admitted: number; readonly used: number }[];
  /** The ceiling of the climber in calls a second; null: none. */
  readonly learned: { readonly rate: number | null } | null;
}

/** By level and result. */
export type LookupCounts = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** All metrics of one process. Labels come from closed sets: never a user, key or prompt. */
export class Metrics {
  readonly registry = new Registry();

  private readonly requests = this.tally('spillway_requests_total', 'Calls by how they ended', [
    'route',
    'priority',
    'outcome',
  ]);
  private readonly duration = this.distribution(
    'spillway_request_duration_seconds',
    'From receipt to the last byte',
    ['priority', 'outcome'],
    LATENCY_SECONDS,
  );
  private readonly queueWait = this.distribution(
    'spillway_queue_wait_seconds',
    'Waiting for turns',
    ['priority'],
    LATENCY_SECONDS,
  );
  private readonly queueDepth = this.gauge('spillway_queue_depth', 'Calls waiting for a turn', ['priority']);
  private readonly inflight = this.gauge('spillway_model_inflight', 'Calls of a model under way, all processes', [
    'model',
  ]);
  private readonly remaining = this.gauge('ratelimit_remaining', 'What is left of the admitted limit of a model', [
    'model',
    'limit',
  ]);
  private readonly refusals = this.counter(
    'ratelimit_requests_rejected_total',
    'Calls refused for a limit of their caller',
    ['policy'],
  );
  private readonly rate = this.gauge('spillway_model_rate', 'Calls a second that the climber admits to a model', [
    'model',
  ]);
  private readonly lookups = this.tally('spillway_cache_lookups_total', 'Cache lookups', ['level', 'result']);
  private readonly saved = this.tally('spillway_tokens_saved_total', 'Tokens that cached answers did not cost', [
    'direction',
  ]);
  private readonly upstreamCalls = this.tally('ai_request_total', 'Calls of models', ['model', 'status']);
  private readonly tokens = this.tally('ai_token_consumed_total', 'Tokens that models reported', [
    'model',
    'direction',
  ]);
  private readonly cost = this.tally('spillway_cost_total', 'Money that the reported tokens cost by `price`', [
    'model',
  ]);
  private readonly qualitySignals = this.tally('spillway_quality_signals_total', 'Answers that were bad in something', [
    'model',
    'signal',
  ]);
  private readonly canaryScores = this.gauge(
    'spillway_canary_score',
    'How near the last answers to the canary questions were to the known ones, BLEU-4, 0 to 1',
    ['model'],
  );
  private readonly hedges = this.tally('spillway_hedges_total', 'Calls whose model took long, by what came of it', [
    'route',
    'outcome',
  ]);
  private readonly upstreamDuration = this.distribution(
    'spillway_upstream_duration_seconds',
    'Calls of a model, whole answer',
    ['model'],
    LATENCY_SECONDS,
  );
  private readonly firstContent = this.distribution(
    'spillway_time_to_first_token_seconds',
    'From the call of a model to its first content',
    ['model'],
    LATENCY_SECONDS,
  );
  private readonly state = this.gauge('circuit_breaker_state', '0 closed, 1 open, 2 half-open, 3 degraded', [
    'service',
  ]);
  private readonly jobsEnded = this.counter('spillway_jobs_ended_total', 'Jobs by how they ended', ['kind', 'status']);
  private readonly stateChanges = this.counter('circuit_breaker_changes_total', 'Changes of state, by the new one', [
    'service',
    'state',
  ]);
  private readonly genaiDuration = this.distribution(
    'gen_ai_client_operation_duration_seconds',
    'OpenTelemetry GenAI: duration of client operations',
    ['gen_ai_operation_name', 'gen_ai_provider_name', 'gen_ai_request_model', 'error_type'],
    GENAI_SECONDS,
  );
  private readonly genaiTokens = this.distribution(
    'gen_ai_client_token_usage',
    'OpenTelemetry GenAI: tokens of client operations',
    ['gen_ai_operation_name', 'gen_ai_provider_name', 'gen_ai_request_model', 'gen_ai_token_type'],
    GENAI_TOKENS,
  );

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }

  /** What counts calls of ours that end alike, in seconds since the receipt of each. */
  calls({ priority, routeLabel, attempts, queueMs, hedge, saved }: Journal, outcome: Outcome): Adds {
    const label = priority ?? 'none';
    const duration = this.duration.of(label, outcome);
    const others: [Adds, number][] = [[this.requests.of(routeLabel, label, outcome), 1]];
    if (attempts > 0 || queueMs > 0) others.push([this.queueWait.of(label), queueMs / 1000]);
    if (hedge !== null) others.push([this.hedges.of(routeLabel, hedge), 1]);
    if (saved !== null) others.push([this.saved.of('input'), saved.input], [this.saved.of('output'), saved.output]);
    return {
      add: seconds => {
        duration.add(seconds);
        for (const [one, amount] of others) one.add(amount);
      },
    };
  }

  /** A call was refused for a limit of its key or its end user. */
  callerRefused(policy: string): void {
    this.refusals.inc({ policy });
  }

  lookup(level: string, result: string): void {
    this.lookups.add(1, level, result);
  }

  /** Lookups so far, by what was looked into and what came of it. */
  async lookupCounts(): Promise<LookupCounts> {
    const counts: Record<string, Record<string, number>> = {};
    for (const { labels, value } of await this.lookups.sums()) {
      (counts[String(labels['level'])] ??= {})[String(labels['result'])] = value;
    }
    return counts;
  }

  /** A call of a model has ended. */
  upstream(call: UpstreamCall): void {
    const { model, usage, price } = call;
    this.upstreamCalls.add(1, model, call.status);
    this.upstreamDuration.add(call.seconds, model);
    if (call.firstContentSeconds !== null) this.firstContent.add(call.firstContentSeconds, model);
    const { operation, provider } = call;
    this.genaiDuration.add(call.seconds, operation, provider, model, call.status === '200' ? '' : call.status);
    if (usage === null) return;
    if (price !== null) this.cost.add((usage.input * price.input + usage.output * price.output) / 1e6, model);
    for (const direction of ['input', 'output'] as const) {
      this.tokens.add(usage[direction], model, direction);
      this.genaiTokens.add(usage[direction], operation, provider, model, direction);
    }
  }

  /** An answer of a model was bad in something. */
  qualitySignal(model: string, signal: string): void {
    this.qualitySignals.add(1, model, signal);
  }

  /** A job has ended for good. */
  jobEnded(kind: string, status: string): void {
    this.jobsEnded.inc({ kind, status });
  }

  /** Asks for the jobs of all processes each time that metrics are read; what cannot be counted is left out. */
  measureJobs(count: () => Promise<readonly { kind: string; state: string; count: number }[]>): void {
    const gauge = this.gauge('spillway_jobs', 'Jobs of all processes that wait, run, or have failed for good', [
      'kind',
      'state',
    ]);
    Object.assign(gauge, {
      collect: async () => {
        gauge.reset();
        for (const { kind, state, count: jobs } of await count().catch(() => [])) gauge.set({ kind, state }, jobs);
      },
    });
  }

  /** Replaces what was known of the breakers: one that is gone must not look open for ever. */
  services(states: Readonly<Record<string, ServiceState>>): void {
    this.state.reset();
    for (const [service, state] of Object.entries(states)) this.state.set({ service }, STATE_VALUES[state]);
  }

  /** Replaces what was known of how models answer their canary questions. */
  canaries(scores: ReadonlyMap<string, number>): void {
    this.canaryScores.reset();
    for (const [model, score] of scores) this.canaryScores.set({ model }, score);
  }

  /** A breaker has changed its state, counted by the one process that changed it. */
  serviceChanged(service: string, state: ServiceState): void {
    this.stateChanges.inc({ service, state });
  }

  depths(depths: Readonly<Record<Priority, number>>): void {
    for (const [priority, depth] of Object.entries(depths)) this.queueDepth.set({ priority }, depth);
  }

  /** Replaces what was known of the models: calls under way, what is left of each limit, and their rate. */
  models(statuses: Readonly<Record<string, ModelGauges>>): void {
    this.inflight.reset();
    this.remaining.reset();
    this.rate.reset();
    for (const [model, { inflight, limits, learned }] of Object.entries(statuses)) {
      this.inflight.set({ model }, inflight);
      if (learned !== null && learned.rate !== null) this.rate.set({ model }, learned.rate);
      for (const { limit, admitted, used } of limits)
        this.remaining.set({ model, limit }, Math.max(0, admitted - used));
    }
  }

  private tally(name: string, help: string, labelNames: string[]): Tally {
    return new Tally({ name, help, labelNames, registry: this.registry });
  }

  private counter(name: string, help: string, labelNames: string[]): Counter {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  private gauge(name: string, help: string, labelNames: string[]): Gauge {
    return new Gauge({ name, help, labelNames, registers: [this.registry] });
  }

  private distribution(name: string, help: string, labelNames: string[], buckets: number[]): Distribution {
    return new Distribution({ name, help, labelNames, buckets, registry: this.registry });
  }
}
