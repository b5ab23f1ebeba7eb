import { freePort, startProgram, type Program, type Workplace } from './program';

/** A Redis of one arm that keeps its data over a restart. */
export class RedisProcess {
  private constructor(
    private readonly port: number,
    private readonly workplace: Workplace,
    private program: Program,
  ) {}

  static async start(workplace: Workplace): Promise<RedisProcess> {
    const port = await freePort();
    return new RedisProcess(port, workplace, await launch(port, workplace));
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Ends it without warning. */
  kill(): Promise<void> {
    return this.program.kill('SIGKILL');
  }

  /** Starts it again with what it had. */
  async restart(): Promise<void> {
    this.program = await launch(this.port, this.workplace);
  }
}

function launch(port: number, workplace: Workplace): Promise<Program> {
  const settings = { port, bind: '127.0.0.1', dir: workplace.folder, save: '', appendonly: 'yes' };
  return startProgram({
    command: 'redis-server',
    args: Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]),
    ready: /Ready to accept connections/,
  });
}
