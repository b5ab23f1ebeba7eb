import { InvalidRequest } from '@spillway/contracts';

/**
 * The parameters of an address; one without a value counts as not given. What a misspelt name or a repeated one would
 * select is everything, so neither is taken.
 * @throws InvalidRequest
 */
export function parametersOf<Name extends string>(
  query: Readonly<Record<string, unknown>>,
  names: readonly Name[],
): Readonly<Partial<Record<Name, string>>> {
  for (const [name, value] of Object.entries(query)) {
    const known = (names as readonly string[]).includes(name);
    const message = known ? `${name} must be given once.` : `Only ${names.join(' and ')} can be given here.`;
    if (!known || typeof value !== 'string') throw new InvalidRequest(message, { param: name, retryable: false });
  }
  const given = Object.entries(query).filter(([, value]) => value !== '');
  return Object.fromEntries(given) as Readonly<Partial<Record<Name, string>>>;
}
