import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The inputs of one case from `test/cases/data`, one per line there. */
export function inputsOf<Input>(kind: string, id: string): Input[] {
  const text = readFileSync(join(__dirname, `../cases/data/${kind}.jsonl`), 'utf8');
  const inputs = text
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as { readonly case: string } & Input)
    .filter(line => line.case === id);
  if (inputs.length === 0) throw new Error(`there is no data for ${id}`);
  return inputs;
}
