import { JobQueues } from '@spillway/jobs';
import { Scheduling } from '@spillway/scheduling';
import type { Surroundings } from '@spillway/pipeline';
import { GatewayModule } from './gateway.module';
import { createHttpServer, type Patience } from './http-server';
import { RepeatLane } from './http/repeat-lane';
import { Reception } from './http/reception';
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
    stop: async () => {
      const { drain_ms: drainMs } = surroundings.config.current.server;
      await Promise.all([app.get(Reception).close(drainMs), app.get(JobQueues).stop(drainMs)]);
      await app.close();
    },
  };
}
