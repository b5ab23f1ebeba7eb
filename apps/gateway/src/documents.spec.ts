import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { Metrics } from '@spillway/telemetry';

const ROOT = join(__dirname, '../../..');
const NOT_OURS = new Set(['node_modules', 'dist', 'reports', 'coverage']);
const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8');

function documentsIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return NOT_OURS.has(entry.name) || entry.name.startsWith('.') ? [] : documentsIn(path);
    return entry.name.endsWith('.md') ? [relative(ROOT, path)] : [];
  });
}

const proseOf = (name: string): string => read(name).replace(/```.*?```/gs, '');

/** As GitHub makes it of a heading. */
const anchorOf = (heading: string): string =>
  heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');

function leadsSomewhere(from: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? from : join(dirname(from), path);
  if (!existsSync(join(ROOT, target))) return false;
  if (anchor === undefined) return true;
  return [...proseOf(target).matchAll(/^#+ (.*)$/gm)].some(([, heading = '']) => anchorOf(heading) === anchor);
}

describe('the documents', () => {
  const names = documentsIn(ROOT);

  it('lead nowhere that is not there', () => {
    const links = names.flatMap(name =>
      [...proseOf(name).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link = '']): [string, string] => [name, link]),
    );
    expect(links.length).toBeGreaterThan(50);
    expect(links.filter(link => !leadsSomewhere(...link))).toEqual([]);
  });

  it('name every metric', async () => {
    const metrics = await new Metrics().registry.getMetricsAsJSON();
    const own = metrics.map(({ name }) => name).filter(name => !/^(process|nodejs)_/.test(name));
    expect(own.length).toBeGreaterThan(20);
    const text = read('docs/operations.md');
    expect(own.filter(name => !text.includes(`\`${name}\``))).toEqual([]);
  });

  it('name every outcome and every control of a call', () => {
    const text = read('docs/calls.md');
    const outcomes = read('libs/contracts/src/outcome.ts').matchAll(/\| '([a-z-]+)'/g);
    const controls = read('libs/classify/src/controls.ts').matchAll(/'(x-(?:spillway|ark)-[a-z-]+)'/g);
    const names = [...outcomes, ...controls].map(([, name = '']) => name);
    expect(names.length).toBeGreaterThan(20);
    expect(names.filter(name => !text.includes(`\`${name}\``))).toEqual([]);
  });

  it('name every error, with its status, type and outcome', () => {
    const told = ['status', 'code', 'type', 'outcome'].map(field => new RegExp(`readonly ${field} = '?([\\w-]+)'?;`));
    const errors = read('libs/contracts/src/errors.ts')
      .split(/^export class /m)
      .map(text => told.map(pattern => pattern.exec(text)?.[1]))
      // Of a caller that has left nobody reads an error.
      .filter(([status, code]) => status !== undefined && code !== undefined && code !== 'client_gone');
    expect(errors.length).toBeGreaterThan(15);
    const rows = read('docs/errors.md').replace(/ +/g, ' ');
    const missing = errors.filter(
      ([status, code, type, outcome]) => !rows.includes(`| ${status} | \`${code}\` | \`${type}\` | \`${outcome}\` |`),
    );
    expect(missing).toEqual([]);
  });
});
