import { join } from 'node:path';
import type { Priority } from '@spillway/contracts';
import { request } from 'undici';
import { projectFolder } from '../scenario/read-file';
import { freePort, startProgram, type Program, type Workplace } from './program';

/** What an operator sees, as far as the lab looks at it. */
export interface SpillwayStatus {
  readonly parts: Readonly<Record<string, string>>;
  readonly queues: Readonly<Record<Priority, number>>;
  readonly models: Readonly<Record<string, { readonly learned: { readonly rate: number | null } | null }>>;
}

/** How far a seed is. */
interface SeedStatus {
  readonly state: string;
  readonly failed: number;
}

/** The built program with one configuration. */
export class SpillwayProcess {
  private constructor(
    readonly url: string,
    private readonly workplace: Workplace,
    private readonly program: Program,
  ) {}

  /** `variables`: of its environment, beside those that every run has. */
  static async start(
    workplace: Workplace,
    configuration: object,
    variables: Readonly<Record<string, string>>,
  ): Promise<SpillwayProcess> {
    const file = workplace.write('spillway.yaml', configuration);
    const port = await freePort();
    const program = await startProgram({
      command: process.execPath,
      args: ['--enable-source-maps', join(projectFolder(), 'dist/apps/gateway/src/main.js')],
      env: {
        SPILLWAY_CONFIG: file,
        PORT: String(port),
        HOST: '127.0.0.1',
        ...variables,
      },
      ready: new URL(`http://127.0.0.1:${port}/livez`),
    });
    return new SpillwayProcess(`http://127.0.0.1:${port}`, workplace, program);
  }

  get pid(): number {
    return this.program.pid;
  }

  /** null: it cannot tell now. */
  async status(): Promise<SpillwayStatus | null> {
    const { statusCode, body } = await request(`${this.url}/admin/status`);
    const said = await body.text();
    return statusCode === 200 ? (JSON.parse(said) as SpillwayStatus) : null;
  }

  /** Another configuration from now on; caches and queues stay. */
  async reconfigure(configuration: object): Promise<void> {
    this.workplace.write('spillway.yaml', configuration);
    const { statusCode, body } = await request(`${this.url}/admin/reload`, { method: 'POST' });
    const said = await body.text();
    if (statusCode !== 200) throw new Error(`Spillway refused its configuration: ${said}`);
  }

  /** Begins to seed a text of JSON lines, and returns the name of the seed. */
  async sow(route: string, lines: string): Promise<string> {
    const headers = { 'content-type': 'application/x-ndjson' };
    const url = `${this.url}/admin/seed?route=${encodeURIComponent(route)}`;
    const { statusCode, body } = await request(url, { method: 'POST', headers, body: lines });
    const said = await body.text();
    if (statusCode !== 202) throw new Error(`Spillway refused its seeds: ${said}`);
    return (JSON.parse(said) as { readonly id: string }).id;
  }

  /** null: it cannot tell now. */
  async seedStatus(id: string): Promise<SeedStatus | null> {
    const { statusCode, body } = await request(`${this.url}/admin/seed/${id}`);
    const said = await body.text();
    if (statusCode >= 500) return null;
    if (statusCode !== 200) throw new Error(`Spillway does not know its seed: ${said}`);
    return JSON.parse(said) as SeedStatus;
  }

  stop(): Promise<void> {
    return this.program.kill('SIGTERM');
  }
}
