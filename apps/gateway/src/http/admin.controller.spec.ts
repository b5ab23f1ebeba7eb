import type { CacheGenerations } from '@spillway/cache';
import { ConfigurationError, type ConfigStore } from '@spillway/config';
import { InvalidRequest } from '@spillway/contracts';
import { AdminController } from './admin.controller';

describe('DELETE /admin/cache', () => {
  const cleared: unknown[] = [];
  const generations = { clear: async (what: object) => void cleared.push({ ...what }) };
  const controller = new AdminController({} as ConfigStore, generations as unknown as CacheGenerations);
  beforeEach(() => cleared.splice(0));

  it.each([[{}], [{ route: 'r' }], [{ scope: 's', route: 'r' }]])('clears what is selected: %j', async query => {
    await controller.clear(query);
    expect(cleared).toEqual([query]);
  });

  it.each([
    [{ scop: 's' }, 'scop'],
    [{ scope: 's', model: 'm' }, 'model'],
    [{ scope: ['s', 't'] }, 'scope'],
  ])('clears nothing by a selection that it does not understand: %j', async (query, param) => {
    const refusal = await controller.clear(query).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(InvalidRequest);
    expect(refusal).toMatchObject({ param });
    expect(cleared).toEqual([]);
  });
});

describe('POST /admin/reload', () => {
  it('tells all problems, each with its path where it has one', () => {
    const problems = [
      { path: '', message: 'line 2, column 1: Tabs are not allowed as indentation' },
      { path: 'servre', message: 'unknown key' },
    ];
    const reload = (): never => {
      throw new ConfigurationError(problems);
    };
    const controller = new AdminController({ reload } as unknown as ConfigStore, {} as CacheGenerations);
    expect(() => controller.reload()).toThrow(
      'not reloaded: line 2, column 1: Tabs are not allowed as indentation; servre: unknown key',
    );
  });
});
