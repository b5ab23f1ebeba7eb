import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { ConfigStore } from '@spillway/config';
import { PRIORITIES, Turns, type Call, type ModelSettings, type Priority } from '@spillway/contracts';
import { HealthModule } from '@spillway/health';
import { EnvironmentModule } from '@spillway/pipeline';
import { RedisConnections } from '@spillway/redis';
import { Scheduling, SchedulingModule } from '@spillway/scheduling';
import { incomingCall } from './calls';
import { redisTimeoutMs } from './open-redis';
import { configStore } from './settings';
import type { TurnProcessOptions } from './turn-process';

export interface TurnOptions {
  readonly express?: boolean;
  /** Calls at the same time, by model. */
  readonly inflight: Readonly<Record<string, number>>;
  readonly queueLimit?: number;
  readonly claimMs?: number;
  /** As in `spillway.yaml`. */
  readonly redis?: { readonly timeout_ms?: number };
}

/** Something that hands out turns, in one process or several. */
export interface TurnSystem {
  readonly turns: Turns;
  depths(): Promise<Readonly<Record<Priority, number>>>;
  inflight(): Promise<Readonly<Record<string, number>>>;
  /** What is booked of the tokens that a model may use in a minute. */
  tokens(model: string): Promise<number>;
  /** Whether exactly `count` calls wait, and a worker has reached each of them. */
  waiting(count: number): Promise<boolean>;
  stop(): Promise<void>;
}

/** One process of Spillway, as far as turns go. */
export interface TurnProcess {
  readonly turns: Turns;
  readonly scheduling: Scheduling;
  /** Its own connections; null without Redis. */
  readonly connections: RedisConnections | null;
  stop(): Promise<void>;
}

/** Tokens a minute of every model: more than any test uses. */
const TPM = 1_000_000;

let systems = 0;

export function newPrefix(): string {
  return `turns-${process.pid}-${systems++}`;
}

export function turnConfig(options: TurnOptions, redisUrl: string | null, prefix = newPrefix()): ConfigStore {
  const { express = true, inflight, queueLimit = 1_000, claimMs = 6_000, redis = {} } = options;
  const models = Object.entries(inflight).map(([name, limit]) => [
    name,
    { provider: 'p', limits: { inflight: limit, tpm: TPM }, headroom: 0 },
  ]);
  const classSettings = { queue_limit: queueLimit, share: 1 };
  return configStore(
    {
      redis: { prefix, ...(redisUrl !== null && { timeout_ms: redisTimeoutMs(redisUrl) }), ...redis },
      providers: { p: { base_url: 'http://127.0.0.1:9/v1' } },
      models: Object.fromEntries(models),
      priorities: Object.fromEntries(PRIORITIES.map(priority => [priority, classSettings])),
      scheduling: { express, claim_ms: claimMs, worker_concurrency: 2 },
    },
    redisUrl === null ? {} : { REDIS_URL: redisUrl },
  );
}

export async function startProcess(config: ConfigStore, role: 'all' | 'gateway' = 'all'): Promise<TurnProcess> {
  const silent = { debug: () => undefined, info: () => undefined, warn: console.warn, error: console.error };
  @Module({ imports: [EnvironmentModule.forRoot({ config, logger: silent }), HealthModule, SchedulingModule] })
  class TurnsApp {}
  const app = await NestFactory.createApplicationContext(TurnsApp, { logger: ['error'], abortOnError: false });
  const scheduling = app.get(Scheduling);
  if (role === 'all') scheduling.handOutTurns();
  return {
    turns: app.get(Turns, { strict: false }),
    scheduling,
    connections: app.get<RedisConnections | null>(RedisConnections, { strict: false }),
    stop: () => app.close(),
  };
}

/** A process that can be killed. */
export async function spawnProcess(options: TurnProcessOptions): Promise<ChildProcess> {
  const args = ['-r', join(__dirname, 'run-typescript.cjs'), join(__dirname, 'turn-process.ts')];
  const child = spawn(process.execPath, [...args, JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return child;
}

/** All processes as one; calls are taken by the first. */
export function systemOf(processes: readonly [TurnProcess, ...TurnProcess[]]): TurnSystem {
  const [{ turns, scheduling, connections }] = processes;
  const depths = (): Promise<Readonly<Record<Priority, number>>> => scheduling.depths();
  return {
    turns,
    depths,
    inflight: () => scheduling.inflight(),
    tokens: async model => {
      const { limits } = await scheduling.explain(model);
      return limits.find(({ limit }) => limit === 'tpm')?.used ?? NaN;
    },
    waiting: async count => {
      const queues = await Promise.all(PRIORITIES.map(priority => scheduling.queue(priority, count)));
      const depth = queues.reduce((sum, queue) => sum + queue.depth, 0);
      const isReached = queues.every(({ tickets }) => tickets.every(({ reached }) => reached));
      return depth === count && isReached && (connections === null || (await queuesAreEmpty(connections)));
    },
    stop: async () => {
      await Promise.all(processes.map(process => process.stop()));
    },
  };
}

async function queuesAreEmpty(connections: RedisConnections): Promise<boolean> {
  const redis = connections.get('commands');
  const keys = PRIORITIES.map(priority => `{${connections.prefix}}:${priority}`);
  const counts = keys.flatMap(key => [redis.zcard(`${key}:prioritized`), redis.llen(`${key}:active`)]);
  return (await Promise.all(counts)).every(count => count === 0);
}

export function testRedisUrl(): string {
  const url = process.env['SPILLWAY_TEST_REDIS_URL'];
  if (url === undefined) throw new Error('the global set-up of the tests has not run');
  return url;
}

export interface TurnSystemKind {
  readonly name: string;
  start(options: TurnOptions): Promise<TurnSystem>;
}

/** Every adapter of `Turns`, as processes are made of them. */
export const TURN_SYSTEMS: readonly TurnSystemKind[] = [
  { name: 'in memory', start: async options => systemOf([await startProcess(turnConfig(options, null))]) },
  {
    name: 'through BullMQ, one process',
    start: async options => systemOf([await startProcess(turnConfig(options, testRedisUrl()))]),
  },
  {
    name: 'through BullMQ, worker in another process',
    start: async options => {
      const config = turnConfig(options, testRedisUrl());
      return systemOf([await startProcess(config, 'gateway'), await startProcess(config)]);
    },
  },
];

/** A classified call. */
export function callOf(priority: Priority, changes: Partial<Pick<Call, 'turnBy' | 'answerBy' | 'signal'>> = {}): Call {
  const route = { name: 'r' } as Call['route'];
  return { ...incomingCall(), priority, route, models: [], turnBy: Date.now() + 10_000, ...changes };
}

export function models(...names: readonly string[]): readonly ModelSettings[] {
  return names.map(name => ({ name, limits: { rpm: 0, tpm: TPM, tpd: 0, inflight: 0 } }) as ModelSettings);
}

export async function until(condition: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 15_000;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error('waited in vain');
    await new Promise(resolve => setTimeout(resolve, 3));
  }
}
