import { join } from 'node:path';
import { request } from 'undici';
import type { ModelStats } from '../../../simulator/src/model-state';
import type { ModelPatch } from '../../../simulator/src/settings';
import { projectFolder } from '../scenario/read-file';
import { startProgram, type Program, type Workplace } from './program';

/** The provider of one arm, in a process of its own. */
export class SimulatorProcess {
  private constructor(
    /** The OpenAI base URL. */
    readonly url: string,
    private readonly program: Program,
  ) {}

  static async start(workplace: Workplace, models: Readonly<Record<string, ModelPatch>>): Promise<SimulatorProcess> {
    const file = workplace.write('simulator.json', { strict: true, models });
    const { found, ...program } = await startProgram({
      command: process.execPath,
      args: [join(projectFolder(), 'dist/apps/simulator/src/main.js'), '--config', file],
      env: { PORT: '0' },
      ready: /answers at (\S+)/,
    });
    return new SimulatorProcess(found, program);
  }

  async stats(): Promise<Record<string, ModelStats>> {
    const { body } = await request(this.control('stats'));
    return (await body.json()) as Record<string, ModelStats>;
  }

  /** Changes a model at once. */
  async configure(model: string, patch: ModelPatch): Promise<void> {
    const url = this.control(`models/${encodeURIComponent(model)}`);
    const { statusCode, body } = await request(url, { method: 'PATCH', body: JSON.stringify(patch) });
    const said = await body.text();
    if (statusCode !== 200) throw new Error(`The simulator refused a setting: ${said}`);
  }

  stop(): Promise<void> {
    return this.program.kill('SIGTERM');
  }

  private control(path: string): string {
    return `${new URL(this.url).origin}/control/${path}`;
  }
}
