import { parse } from 'yaml';
import { merged } from './settings';

/** Another value for one place of a scenario. */
export interface Change {
  /** Names of the keys on the way there. */
  readonly path: readonly string[];
  readonly value: unknown;
}

/** What `models.flagship.limits.rpm=10000` says; null: nothing that can be understood. */
export function changeOf(text: string): Change | null {
  const [, path, value] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  return path === undefined || value === undefined ? null : { path: path.split('.'), value: parse(value) as unknown };
}

/** Something that a file says, with changes; what keys mean is not looked at. */
export function withChanges(said: unknown, changes: readonly Change[]): unknown {
  return changes.reduce<unknown>((changed, { path, value }) => {
    const nested = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
    return merged(changed as Readonly<Record<string, unknown>>, nested as Readonly<Record<string, unknown>>);
  }, said);
}

/** A change as it was asked for. */
export function changeText({ path, value }: Change): string {
  return `${path.join('.')}=${JSON.stringify(value)}`;
}
