import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { request } from 'undici';
import { projectFolder } from '../scenario/read-file';
import { freePort, startProgram, type Program, type Workplace } from './program';

/** Set: an address of a real Qdrant. */
const REAL = process.env['QDRANT_URL'] || null;

/** A vector store that can be taken away and given back with what it held. */
export interface QdrantProcess {
  readonly url: string;
  /** Its collection, which ends with the arm. */
  readonly collection: string;
  kill(): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** What a report says of the store that was used. */
export const QDRANT_WAS =
  REAL === null
    ? "a stand-in: Qdrant's API with an exact search, in a process that is killed and started again"
    : 'the one at QDRANT_URL, behind an address that is closed and opened again';

/** `real`: the address of one that is not ours; null: a stand-in. */
export async function startQdrant(workplace: Pick<Workplace, 'path'>, real = REAL): Promise<QdrantProcess> {
  const collection = `spillway-lab-${process.pid}-${Date.now()}`;
  return real === null ? StandIn.start(workplace, collection) : Forwarded.start(new URL(real), collection);
}

class StandIn implements QdrantProcess {
  private constructor(
    private readonly port: number,
    private readonly journal: string,
    readonly collection: string,
    private program: Program,
  ) {}

  static async start(workplace: Pick<Workplace, 'path'>, collection: string): Promise<StandIn> {
    const [port, journal] = [await freePort(), workplace.path('vectors.jsonl')];
    return new StandIn(port, journal, collection, await launch(port, journal));
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  kill(): Promise<void> {
    return this.program.kill('SIGKILL');
  }

  async restart(): Promise<void> {
    this.program = await launch(this.port, this.journal);
  }

  stop(): Promise<void> {
    return this.kill();
  }
}

function launch(port: number, journal: string): Promise<Program> {
  return startProgram({
    command: process.execPath,
    args: [join(projectFolder(), 'dist/apps/simulator/src/vector-store/main.js'), String(port), journal],
    ready: /answers at port/,
  });
}

/** A real Qdrant is not ours to kill: the way to it is cut instead. */
class Forwarded implements QdrantProcess {
  private readonly sockets = new Set<Socket>();
  private server: Server | null = null;

  private constructor(
    private readonly real: URL,
    private readonly port: number,
    readonly collection: string,
  ) {}

  static async start(real: URL, collection: string): Promise<Forwarded> {
    const forwarded = new Forwarded(real, await freePort(), collection);
    await forwarded.restart();
    return forwarded;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async kill(): Promise<void> {
    const { server } = this;
    this.server = null;
    if (server === null) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  async restart(): Promise<void> {
    this.server = createServer(near => this.join(near, connect(Number(this.real.port || 80), this.real.hostname)));
    this.server.listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
  }

  async stop(): Promise<void> {
    await this.kill();
    const { body } = await request(new URL(`collections/${this.collection}`, this.real), { method: 'DELETE' });
    await body.dump();
  }

  private join(near: Socket, far: Socket): void {
    for (const socket of [near, far]) {
      this.sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => this.sockets.delete(socket));
    }
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
    near.pipe(far).pipe(near);
  }
}
