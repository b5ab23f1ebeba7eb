import { open } from 'node:fs/promises';
import { linesOf, logLineAsSeed, questionsOfLog } from '@spillway/seeding';
import type { SeedCommand } from './command-line';
import { follow, type Screen } from './follow';
import { Spillway } from './spillway';
import { logReport, seedReport, surveyReport } from './words';

/** The command's own limits of a text: Spillway has its own. */
const ANY_SIZE = { all: Infinity, line: Infinity };

/** Does what the command line says and tells about it; false: something failed. @throws Refusal, or an error of a file. */
export async function seed(command: SeedCommand, input: AsyncIterable<Uint8Array>, screen: Screen): Promise<boolean> {
  const spillway = new Spillway(command);
  const text = command.file === '-' ? input : await opened(command.file);
  const lines = command.fromLog ? await linesOfLog(text, screen) : text;
  const planted = lines === null || (await plant(spillway, lines, screen));
  if (command.sample === null) return planted;
  const sample = command.sample === '-' ? input : await opened(command.sample);
  const survey = await spillway.lookUp(command.fromLog ? asSeeds(sample) : sample);
  screen.write(`${surveyReport(survey)}\n`);
  return planted;
}

/** Opened before anything is asked of Spillway, which is not to blame for a file that is not there. */
async function opened(file: string): Promise<AsyncIterable<Uint8Array>> {
  return (await open(file)).createReadStream();
}

async function plant(spillway: Spillway, lines: AsyncIterable<Uint8Array>, screen: Screen): Promise<boolean> {
  const { id } = await spillway.sow(lines);
  screen.write(`seed ${id}\n`);
  const end = await follow(spillway, id, screen);
  screen.write(`${seedReport(end)}\n`);
  return end.state === 'succeeded' && end.failed === 0;
}

/** Null: nothing of the log can be seeded. */
async function linesOfLog(log: AsyncIterable<Uint8Array>, screen: Screen): Promise<AsyncIterable<Uint8Array> | null> {
  const questions = await questionsOfLog(linesOf(log, ANY_SIZE));
  screen.write(`${logReport(questions)}\n`);
  return questions.lines.length === 0 ? null : bytesOf(questions.lines);
}

async function* asSeeds(log: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const line of linesOf(log, ANY_SIZE)) yield Buffer.from(`${logLineAsSeed(line)}\n`);
}

async function* bytesOf(lines: Iterable<string>): AsyncGenerator<Uint8Array> {
  for (const line of lines) yield Buffer.from(`${line}\n`);
}
