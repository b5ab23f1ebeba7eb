import { Scheduling } from '@spillway/scheduling';
import type { Surroundings } from '@spillway/pipeline';
import { GatewayModule } from './gateway.module';
import { createHttpServer, type Patience } from './http-server';
import { Reception } from './http/reception';
import type { Running } from './process-life';

interface GatewayRole {
  /** Whether this process hands out turns too, or leaves that to workers elsewhere. */
  readonly handsOutTurns: boolean;
  /** With clients that are slow to send; default: a minute. */
  readonly patience?: Patience | undefined;
}

/** Serves the HTTP surface. */
export async function serveGateway(
  surroundings: Surroundings,
  { handsOutTurns, patience }: GatewayRole,
): Promise<Running> {
  const { server } = surroundings.config.current;
  const app = await createHttpServer(GatewayModule.forRoot(surroundings), server, patience);
  if (handsOutTurns) app.get(Scheduling).handOutTurns();
  await app.listen(server.port, server.host);
  return {
    url: await app.getUrl(),
    stop: async () => {
      await app.get(Reception).close(surroundings.config.current.server.drain_ms);
      await app.close();
    },
  };
}
