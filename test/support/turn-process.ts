import type { Priority } from '@spillway/contracts';
import { callOf, models, startProcess, turnConfig, type TurnOptions } from './turns';

export interface TurnProcessOptions {
  readonly redisUrl: string;
  readonly prefix: string;
  readonly role: 'all' | 'gateway';
  readonly options: TurnOptions;
  /** Turns of the model `m` that it asks for, one after the other, and never closes. */
  readonly takes: readonly Priority[];
}

/** Part of Spillway as a process of its own; writes a line when it serves, and one for each turn that it got. */
async function main(json: string): Promise<void> {
  const { redisUrl, prefix, role, options, takes } = JSON.parse(json) as TurnProcessOptions;
  const { turns } = await startProcess(turnConfig(options, redisUrl, prefix), role);
  console.log('serving');
  for (const priority of takes) {
    await turns.take(callOf(priority), models('m'));
    console.log(priority);
  }
}

void main(process.argv[2] ?? '');
