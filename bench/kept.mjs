import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'prettier';
import { root } from '../scripts/workspace.mjs';

const folder = join(root, 'docs/benchmarks');

/**
 * Keeps the results of a report by part, in the order of `parts`, so that one can be measured again by itself: a whole
 * run, or parts of one that is kept already. All results; null: the others are not kept.
 */
export function withKept(name, fresh, parts) {
  const file = join(folder, `${name}.json`);
  const kept = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const all = Object.fromEntries(parts.map(part => [part, fresh[part] ?? kept[part]]));
  if (Object.values(all).includes(undefined)) return null;
  mkdirSync(folder, { recursive: true });
  // What is not a number is nothing: JSON would make null of it, and the report 0.
  writeFileSync(file, `${JSON.stringify(all, (_, value) => (Number.isNaN(value) ? undefined : value), 2)}\n`);
  return Object.values(all);
}

export async function writeReport(name, text) {
  writeFileSync(join(folder, `${name}.md`), await format(text, { parser: 'markdown' }));
}
