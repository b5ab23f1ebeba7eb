import { JobQueues } from '@spillway/jobs';
import { Scheduling } from '@spillway/scheduling';
import type { Surroundings } from '@spillway/pipeline';
import { createHttpServer, stopInOrder } from '../../gateway/src/http-server';
import type { Running } from '../../gateway/src/process-life';
import { WorkerModule } from './worker.module';

/** Hands out turns and runs jobs; only operators find a door here, and a port that is taken does not stop the work. */
export async function serveWorker(surroundings: Surroundings): Promise<Running> {
  const { config, logger } = surroundings;
  const { server } = config.current;
  const app = await createHttpServer(WorkerModule.forRoot(surroundings), server);
  app.get(Scheduling).handOutTurns();
  app.get(JobQueues).work();
  const url = await app.listen(server.port, server.host).then(
    () => app.getUrl(),
    ({ message }: Error) => {
      logger.warn({ reason: message }, 'nobody can look at this worker: its address cannot be listened on');
      return null;
    },
  );
  return {
    url,
    stop: () => stopInOrder(app, config.current.server.drain_ms),
  };
}
