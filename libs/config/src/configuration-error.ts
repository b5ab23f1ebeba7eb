import type { z } from 'zod';

export interface Problem {
  /** Where, such as `models.gpt-4o.limits.rpm` or `keys[0].name`; empty for the file as a whole. */
  readonly path: string;
  /** What is wrong; never a configured value, which may be a secret. */
  readonly message: string;
}

export type Path = readonly PropertyKey[];

/** Everything that is wrong with a configuration, at once. */
export class ConfigurationError extends Error {
  readonly code = 'configuration_invalid';

  constructor(readonly problems: readonly Problem[]) {
    super(`The configuration is not valid:\n${problems.map(problem => `  ${describe(problem)}`).join('\n')}`);
    this.name = 'ConfigurationError';
  }
}

export function describe({ path, message }: Problem): string {
  return path === '' ? message : `${path}: ${message}`;
}

export function pathOf(segments: Path): string {
  return segments.reduce<string>((path, segment) => {
    if (typeof segment === 'number') return `${path}[${segment}]`;
    const name = printable(String(segment));
    return path === '' ? name : `${path}.${name}`;
  }, '');
}

/** Control characters in a name must not reach a terminal. */
function printable(name: string): string {
  return /\p{Cc}/u.test(name) || name === '' ? JSON.stringify(name) : name;
}

/**
 * The validator's findings in our words, one problem for each unknown key.
 * @param likely the key that was probably meant by an unknown one in the map at a path
 */
export function problemsOf(
  error: z.ZodError,
  likely: (parent: Path, key: string) => string | undefined = () => undefined,
): Problem[] {
  return error.issues.flatMap(issue => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map(key => {
        const meant = likely(issue.path, key);
        const message = meant === undefined ? 'unknown key' : `unknown key; is ${meant} meant?`;
        return { path: pathOf([...issue.path, key]), message };
      });
    }
    const inner = issue.code === 'invalid_key' ? issue.issues[0] : undefined;
    const message = (inner ?? issue).message.replace(/^(Invalid \w+|Too small|Too big): /, '');
    return [{ path: pathOf(issue.path), message: message.replace(/^expected (.+), received undefined$/, 'missing') }];
  });
}
