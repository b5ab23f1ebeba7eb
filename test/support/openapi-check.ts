import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv, type ValidateFunction } from 'ajv';

type Json = Readonly<Record<string, unknown>>;

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: Json;
  readonly responses: Json;
}

/** A request as an API description sees it. */
export interface DescribedRequest {
  readonly method: string;
  /** With the query. */
  readonly url: string;
  readonly body: unknown;
}

/** Checks requests and answers against an OpenAPI 3.0 description. */
export class OpenApiCheck {
  private readonly document: Json;
  private readonly ajv = new Ajv({ strict: false, validateFormats: false, allErrors: false });
  private readonly validators = new Map<unknown, ValidateFunction>();

  /** @param file in test/data */
  constructor(file: string) {
    const text = readFileSync(join(__dirname, '../data', file), 'utf8');
    this.document = withNull(JSON.parse(text)) as Json;
    this.ajv.addSchema(this.document, 'api');
  }

  /** What is wrong with a request; empty: nothing. */
  request({ method, url, body }: DescribedRequest): string[] {
    const { pathname, searchParams } = new URL(url, 'http://any');
    const operation = this.operation(method, pathname);
    if (operation === null) return [`no operation ${method} ${pathname}`];
    const known = new Set(operation.parameters?.filter(({ in: place }) => place === 'query').map(({ name }) => name));
    const unknown = [...searchParams.keys()].filter(name => !known.has(name)).map(name => `unknown parameter ${name}`);
    const schema = schemaOf(operation.requestBody);
    if (schema === null) return [...unknown, ...(body === undefined ? [] : ['a body where none is expected'])];
    return [...unknown, ...this.problems(schema, body, 'request'), ...this.unknownFields(schema, body)];
  }

  /** What is wrong with an answer; empty: nothing. */
  answer({ method, url }: DescribedRequest, status: number, body: unknown): string[] {
    const operation = this.operation(method, new URL(url, 'http://any').pathname);
    if (operation === null) return [];
    const { responses } = operation;
    const described = responses[String(status)] ?? responses[`${Math.floor(status / 100)}XX`] ?? responses['default'];
    const schema = schemaOf(described as Json | undefined);
    return schema === null ? [`status ${status} is not described`] : this.problems(schema, body, 'answer');
  }

  private operation(method: string, pathname: string): Operation | null {
    const paths = this.document['paths'] as Readonly<Record<string, Readonly<Record<string, Operation>>>>;
    const found = Object.entries(paths)
      .filter(([template]) => new RegExp(`^${template.replace(/\{[^}]+\}/g, '[^/]+')}$`).test(pathname))
      .sort(([left], [right]) => left.split('{').length - right.split('{').length);
    return found[0]?.[1][method.toLowerCase()] ?? null;
  }

  private problems(schema: Json, value: unknown, what: string): string[] {
    let validate = this.validators.get(schema);
    if (validate === undefined) this.validators.set(schema, (validate = this.ajv.compile(absolute(schema) as Json)));
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) => `${what}${instancePath}: ${message}`);
  }

  /** The description does not forbid unknown fields, but a server ignores them: a spelling mistake would go unseen. */
  private unknownFields(schema: Json, body: unknown): string[] {
    const name = String(schema['$ref']).split('/').at(-1) ?? '';
    const components = this.document['components'] as { readonly schemas: Readonly<Record<string, Json>> };
    const known = components.schemas[name]?.['properties'];
    if (known === undefined) return [];
    return Object.keys(body ?? {})
      .filter(field => !Object.hasOwn(known as Json, field))
      .map(field => `request: unknown field ${field}`);
  }
}

function schemaOf(described: Json | undefined): Json | null {
  const content = described?.['content'] as { 'application/json'?: { schema: Json } } | undefined;
  return content?.['application/json']?.schema ?? null;
}

/** `nullable` alone, which JSON Schema does not know, would allow anything. */
function withNull(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withNull);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  if (entries.length === 1 && entries[0]?.[0] === 'nullable') return { type: 'null' };
  return Object.fromEntries(entries.map(([key, inner]) => [key, withNull(inner)]));
}

function absolute(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(absolute);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, key === '$ref' ? `api${String(inner)}` : absolute(inner)]),
  );
}
