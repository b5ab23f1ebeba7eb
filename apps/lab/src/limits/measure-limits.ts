import { join } from 'node:path';
import { z } from 'zod';
import { runProgram } from '../processes/program';
import { projectFolder } from '../scenario/read-file';

/** What is measured beside the scenarios: no calls, but the decisions about them. */
export const LIMITS = { name: 'limits', title: 'What a decision on limits costs at 10 000 a second' } as const;

const measurement = z.object({
  note: z.string(),
  rows: z.array(z.object({ name: z.string() }).catchall(z.number().nullable())),
  verdicts: z.array(
    z.object({
      what: z.string(),
      target: z.string(),
      figure: z.number(),
      met: z.boolean().nullable(),
      madeOf: z.string().nullable(),
    }),
  ),
});

/** Times in ms, rates a second. */
export type LimitsMeasurement = z.output<typeof measurement>;

/** Has the benchmark of decisions run, whose figures these are. */
export async function measureLimits(isShort: boolean): Promise<LimitsMeasurement> {
  const bench = join(projectFolder(), 'bench/main.mjs');
  const args = [bench, '--only', 'decisions', '--json', ...(isShort ? ['--short'] : [])];
  return readMeasurement(await runProgram({ command: process.execPath, args }));
}

/** The one measurement that the benchmark printed, in its last line. */
export function readMeasurement(printed: string): LimitsMeasurement {
  const [first] = z
    .array(measurement)
    .length(1)
    .parse(JSON.parse(printed.trimEnd().split('\n').at(-1) ?? ''));
  if (first === undefined) throw new Error('The benchmark printed no measurement.');
  return first;
}
