import { JobQueues } from '@spillway/jobs';
import { Scheduling } from '@spillway/scheduling';
import type { Surroundings } from '@spillway/pipeline';
import { GatewayModule } from './gateway.module';
import { createHttpServer, stopInOrder, type Patience } from './http-server';
import { RepeatLane } from './http/repeat-lane';
import type { Running } from './process-life';

interface GatewayRole {
  /** Whether this process hands out turns and runs jobs too, or leaves that to workers elsewhere. */
  readonly works: boolean;
  /** With clients that are slow to send; default: a minute. */
  readonly patience?: Patience | undefined;
}

/** Serves the HTTP surface. */
export async function serveGateway(surroundings: Surroundings, { works, patience }: GatewayRole): Promise<Running> {
  const { server } = surroundings.config.current;
  const app = await createHttpServer(GatewayModule.forRoot(surroundings), server, { patience, front: RepeatLane });
  if (works) {
    app.get(Scheduling).handOutTurns();
    app.get(JobQueues).work();
  }
  await app.listen(server.port, server.host);
  return {
    url: await app.getUrl(),
    stop: () => stopInOrder(app, surroundings.config.current.server.drain_ms),
  };
}
