import './kept-tick';
import { needsSimulator, readEnvironment } from '@spillway/config';
import { startSimulator } from '../../simulator/src/simulator';
import { serveWorker } from '../../worker/src/serve';
import { giveUp, live } from './process-life';
import { serveGateway } from './serve';

/** Every role starts here; SPILLWAY_ROLE says which. */
async function start(): Promise<void> {
  const environment = readEnvironment();
  const { role } = environment;
  const simulator = role !== 'worker' && needsSimulator(environment) ? await startSimulator() : null;
  await live(environment, simulator?.url, surroundings =>
    role === 'worker' ? serveWorker(surroundings) : serveGateway(surroundings, { works: role === 'all' }),
  );
}

start().catch(giveUp);
