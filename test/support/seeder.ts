import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Run } from './spillway';

const MAIN = join(__dirname, '../../dist/apps/seeder/src/main.js');
const ENDS_WITHIN_MS = 90_000;

/** A file of JSON lines; what is no object is written as it is. */
export function fileOf(lines: readonly (object | string)[]): string {
  const file = join(mkdtempSync(join(tmpdir(), 'spillway-seeds-')), 'seeds.jsonl');
  writeFileSync(file, textOf(lines));
  return file;
}

export function textOf(lines: readonly (object | string)[]): string {
  return lines.map(line => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('');
}

/** Runs the built command against a Spillway at `url`, with `input` as its standard input. */
export async function runSeeder(url: string, words: readonly string[], input = ''): Promise<Run> {
  const child = spawn(process.execPath, [MAIN, ...words], {
    env: { PATH: process.env['PATH'], SPILLWAY_URL: url },
    timeout: ENDS_WITHIN_MS,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output += data.toString()));
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}
