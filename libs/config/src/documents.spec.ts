import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readEnvironment } from './environment';
import { jsonSchema } from './json-schema';
import { loadSettings } from './load';
import { configurationSchema } from './schema';

const ROOT = join(__dirname, '../../..');
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');

interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly additionalProperties?: Node | boolean;
  readonly items?: Node;
  readonly default?: unknown;
}

/** Every key of the file with its path as the documents write it. */
function keysOf(node: Node, path: string): [path: string, node: Node][] {
  const inMap = Object.entries(node.properties ?? {}).flatMap(([key, value]): [string, Node][] => {
    const at = path === '' ? key : `${path}.${key}`;
    return [[at, value], ...keysOf(value, at)];
  });
  const named = typeof node.additionalProperties === 'object' ? keysOf(node.additionalProperties, `${path}.NAME`) : [];
  return [...inMap, ...named, ...(node.items === undefined ? [] : keysOf(node.items, `${path}[]`))];
}

const keys = keysOf(z.toJSONSchema(configurationSchema, { io: 'input' }) as Node, '');

describe('docs/configuration.md', () => {
  const text = read('docs/configuration.md');
  const isSimple = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value);

  /** Tables that show the three classes side by side write CLASS, and lists of the classes leave out the rest. */
  const isMentioned = (path: string) =>
    text.includes(`\`${path}\``) ||
    text.includes(`\`${path.replace(/^priorities\.\w+/, 'priorities.CLASS')}\``) ||
    (/\.(normal|low)$/.test(path) && text.includes(`\`${path.replace(/\w+$/, 'critical')}\``)) ||
    (path.endsWith('.low') && text.includes(`\`${path.replace(/\w+$/, 'normal')}\``));

  it('mentions every key', () => {
    expect(keys.length).toBeGreaterThan(100);
    expect(keys.map(([path]) => path).filter(path => !isMentioned(path))).toEqual([]);
  });

  it('gives every default', () => {
    const wrong = keys.filter(([path, node]) => {
      const shown = path.replace(/^priorities\.\w+/, 'priorities.CLASS');
      const row = text.split('\n').find(line => line.startsWith(`| \`${shown}\``));
      return isSimple(node.default) && !row?.includes(` \`${String(node.default)}\` `);
    });
    expect(wrong.map(([path]) => path)).toEqual([]);
  });

  it('mentions every variable', () => {
    const source = readFileSync(join(__dirname, 'environment.ts'), 'utf8');
    const variables = [...source.matchAll(/data\.([A-Z_]+)/g)].map(match => match[1]);
    expect(variables.length).toBe(12);
    expect(variables.filter(name => !text.includes(`\`${name}\``))).toEqual([]);
  });
});

describe('spillway.example.yaml', () => {
  const secrets = { OPENAI_API_KEY: 'sk-x', SHOP_KEY: 'shop', BATCH_KEY: 'batch' };
  const load = (env: NodeJS.ProcessEnv) =>
    loadSettings(readEnvironment({ SPILLWAY_CONFIG: join(ROOT, 'spillway.example.yaml'), ...env }));

  it('is valid with the variables it names', () => {
    const settings = load(secrets);
    expect([...settings.routes.keys()]).toEqual(['assistant', 'catalogue']);
    expect(settings.target('catalogue')?.chain_by_priority.low?.map(model => model.upstream_model)).toEqual([
      'qwen2.5:7b',
      'gpt-4o-mini',
    ]);
  });

  it('uses no other variable without a default', () => {
    expect(() => load({})).toThrow(/^(?=.*OPENAI_API_KEY)(?=.*SHOP_KEY)(?=.*BATCH_KEY)/s);
  });
});

describe('spillway.schema.json', () => {
  it('is what the schema gives', () => {
    expect(JSON.parse(read('spillway.schema.json'))).toEqual(jsonSchema());
  });

  it('describes every key that holds no map of classes', () => {
    const silent = keys.filter(([, node]) => !('description' in node)).map(([path]) => path);
    expect(silent.filter(path => !/\.?(critical|normal|low)$/.test(path))).toEqual([]);
  });

  it('lets a variable stand for a number, a switch and a choice', () => {
    const { properties } = jsonSchema() as { properties: Record<string, { properties: Record<string, unknown> }> };
    const variable = { $ref: '#/$defs/variable' };
    expect(properties['server']?.properties['port']).toEqual({
      description: 'Port to listen on; 0: any free one',
      default: 8080,
      anyOf: [{ type: 'integer', minimum: 0, maximum: 65_535 }, variable],
    });
    expect(properties['log']?.properties['snippets']).toMatchObject({ anyOf: [{ type: 'boolean' }, variable] });
    expect(properties['log']?.properties['level']).toMatchObject({ anyOf: [{ type: 'string' }, variable] });
  });
});
