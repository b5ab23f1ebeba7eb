import { isJsonObject } from '@spillway/contracts';
import { z } from 'zod';
import { configurationSchema } from './schema';

const VARIABLE = { type: 'string', pattern: '\\$\\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\\}' };
const UNBOUNDED = [Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER];

/** The JSON Schema of the file as it is written, where `${NAME}` may stand for any scalar. */
export function jsonSchema(): unknown {
  const { $schema, ...schema } = z.toJSONSchema(configurationSchema, { io: 'input' });
  return {
    $schema,
    title: 'Configuration of Spillway',
    ...(withVariables(schema) as object),
    $defs: { variable: VARIABLE },
  };
}

function withVariables(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withVariables);
  if (!isJsonObject(schema)) return schema;
  const copy = Object.fromEntries(
    Object.entries(schema)
      .filter(([, value]) => !UNBOUNDED.includes(value as number))
      // What describes names and defaults is no place for a value of the file.
      .map(([key, value]) => [key, ['propertyNames', 'default'].includes(key) ? value : withVariables(value)]),
  );
  return isConstrainedScalar(copy) ? orVariable(copy) : copy;
}

function isConstrainedScalar(schema: Record<string, unknown>): boolean {
  if (schema['type'] !== 'string') return ['number', 'integer', 'boolean'].includes(String(schema['type']));
  return ['pattern', 'enum', 'const'].some(key => key in schema);
}

/** Keeps description and default where editors look for them. */
function orVariable({ description, default: fallback, ...scalar }: Record<string, unknown>): unknown {
  return {
    ...(description === undefined ? {} : { description }),
    ...(fallback === undefined ? {} : { default: fallback }),
    anyOf: [scalar, { $ref: '#/$defs/variable' }],
  };
}
