import { type Path, pathOf, type Problem } from './configuration-error';

/** Stands where a variable is missing, so that the rest can still be checked. */
const PLACEHOLDER = 'missing';

/** Plain values in which `${…}` was replaced. */
export interface Interpolated {
  readonly value: unknown;
  /** Paths of the texts with variables: a number or a switch may be meant. */
  readonly replaced: readonly string[];
  readonly problems: readonly Problem[];
}

// `$${` stands for `${`; a `${` that opens nothing well-formed is a mistake.
const REFERENCE = /\$\$\{|\$\{(?:([A-Za-z_]\w*)(?::-([^}]*))?\})?/g;

/**
 * Replaces `${NAME}` and `${NAME:-default}` inside every text. It works on parsed values, so that no content of a
 * variable can change the structure of the file.
 * @param scalars Paths at which the result is read as a number, a switch or nothing rather than as text.
 */
export function interpolate(
  value: unknown,
  variables: Readonly<Record<string, string>>,
  scalars: ReadonlySet<string> = new Set(),
): Interpolated {
  const interpolator = new Interpolator(variables, scalars);
  return { value: interpolator.walk(value, []), replaced: interpolator.replaced, problems: interpolator.problems };
}

class Interpolator {
  readonly replaced: string[] = [];
  readonly problems: Problem[] = [];
  private readonly open = new Set<object>();

  constructor(
    private readonly variables: Readonly<Record<string, string>>,
    private readonly scalars: ReadonlySet<string>,
  ) {}

  walk(value: unknown, path: Path): unknown {
    if (typeof value === 'string') return this.replaceIn(value, path);
    if (typeof value !== 'object' || value === null) return value;
    if (this.open.has(value)) {
      this.report(path, 'an alias refers to what contains it');
      return null;
    }
    this.open.add(value);
    const copy = Array.isArray(value)
      ? value.map((item, index) => this.walk(item, [...path, index]))
      : this.walkMap(value, path);
    this.open.delete(value);
    return copy;
  }

  private walkMap(map: object, path: Path): unknown {
    return Object.fromEntries(
      Object.entries(map).flatMap(([key, item]) => {
        // The validator would skip it silently.
        if (key === '__proto__') this.report([...path, key], 'not allowed as a name');
        return key === '__proto__' ? [] : [[key, this.walk(item, [...path, key])]];
      }),
    );
  }

  private replaceIn(text: string, path: Path): unknown {
    if (!text.includes('${')) return text;
    const replaced = text.replace(REFERENCE, (reference, variable?: string, fallback?: string) =>
      reference === '$${' ? '${' : this.valueOf(variable, fallback, path),
    );
    this.replaced.push(pathOf(path));
    return this.scalars.has(pathOf(path)) ? toScalar(replaced) : replaced;
  }

  private valueOf(variable: string | undefined, fallback: string | undefined, path: Path): string {
    if (variable === undefined) {
      this.report(path, 'expected ${NAME} or ${NAME:-default}; write $${ for a plain ${');
      return PLACEHOLDER;
    }
    const value = Object.hasOwn(this.variables, variable) ? this.variables[variable] : fallback;
    if (value === undefined) this.report(path, `the environment variable ${variable} is not set`);
    return value ?? PLACEHOLDER;
  }

  private report(path: Path, message: string): void {
    this.problems.push({ path: pathOf(path), message });
  }
}

function toScalar(text: string): unknown {
  if (text === '') return undefined;
  if (text === 'true' || text === 'false') return text === 'true';
  return text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text);
}
