import '../../gateway/src/kept-tick';
import { readEnvironment } from '@spillway/config';
import { giveUp, live } from '../../gateway/src/process-life';
import { serveWorker } from './serve';

async function start(): Promise<void> {
  await live({ ...readEnvironment(), role: 'worker' }, undefined, serveWorker);
}

start().catch(giveUp);
