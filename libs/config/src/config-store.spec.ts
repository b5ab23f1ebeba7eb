import 'reflect-metadata';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ConfigModule } from './config.module';
import { ConfigStore } from './config-store';
import { ConfigurationError } from './configuration-error';
import { readEnvironment } from './environment';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'spillway-config-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(text: string): void {
  writeFileSync(join(folder, 'spillway.yaml'), text);
}

function storeOf(text: string, env: NodeJS.ProcessEnv = {}): ConfigStore {
  write(text);
  return new ConfigStore(readEnvironment(env), { folder });
}

describe('ConfigStore', () => {
  it('takes up a changed file and tells its listeners', () => {
    const store = storeOf('cache: { ttl_s: 1 }');
    const heard: number[] = [];
    const stop = store.onChange(settings => heard.push(settings.cache.ttl_s));
    write('cache: { ttl_s: 2 }');
    expect(store.reload()).toEqual({ changed: true, needsRestart: [] });
    expect(store.current.cache.ttl_s).toBe(2);
    stop();
    write('cache: { ttl_s: 3 }');
    store.reload();
    expect([store.current.cache.ttl_s, heard]).toEqual([3, [2]]);
  });

  it('keeps its settings where nothing has changed', () => {
    const store = storeOf('cache: { ttl_s: 1 }');
    const before = store.current;
    const heard: unknown[] = [];
    store.onChange(settings => heard.push(settings));
    write('cache: { ttl_s: 1 } # the same');
    expect(store.reload()).toEqual({ changed: false, needsRestart: [] });
    expect(store.current).toBe(before);
    expect(heard).toEqual([]);
  });

  it('keeps the last good settings when the file is bad', () => {
    const store = storeOf('cache: { ttl_s: 1 }');
    const before = store.current;
    write('cache: { ttl_s: none }');
    expect(() => store.reload()).toThrow(ConfigurationError);
    expect(store.current).toBe(before);
    write('cache: { ttl_s: 4 }');
    store.reload();
    expect(store.current.cache.ttl_s).toBe(4);
  });

  it('keeps the last good settings when the file is gone', () => {
    const store = storeOf('keys: [{ name: a, key: secret }]');
    const before = store.current;
    rmSync(join(folder, 'spillway.yaml'));
    expect(() => store.reload()).toThrow(/cannot read .*spillway\.yaml \(ENOENT\)/);
    expect(store.current).toBe(before);
    write('cache: { ttl_s: 4 }');
    expect(store.reload().changed).toBe(true);
  });

  it.each(['', '# nothing yet'])('keeps the last good settings when the file is empty: %p', text => {
    const store = storeOf('keys: [{ name: a, key: secret }]');
    const before = store.current;
    write(text);
    expect(() => store.reload()).toThrow(/spillway\.yaml is empty/);
    expect(store.current).toBe(before);
  });

  it('takes up a file that was not there at the start', () => {
    const store = new ConfigStore(readEnvironment({}), { folder });
    expect(store.current.file).toBeNull();
    write('cache: { ttl_s: 4 }');
    store.reload();
    expect(store.current).toMatchObject({ file: join(folder, 'spillway.yaml'), cache: { ttl_s: 4 } });
  });

  it('keeps what needs a restart, and names it', () => {
    const store = storeOf('server: { port: 1, drain_ms: 1 }\nredis: { url: redis://a }');
    write(
      'server: { port: 2, drain_ms: 2 }\nredis: { url: redis://b }\nqdrant: { url: http://c }\nscheduling: { lease_ms: 5 }',
    );
    expect(store.reload()).toEqual({
      changed: true,
      needsRestart: ['server.port', 'redis.url', 'qdrant.url', 'scheduling.lease_ms'],
    });
    expect(store.current).toMatchObject({
      server: { port: 1, drain_ms: 2 },
      redis: { url: 'redis://a' },
      scheduling: { lease_ms: 10_000 },
    });
    expect(store.current.qdrant.url).toBeUndefined();
    expect(store.reload()).toMatchObject({ changed: false, needsRestart: { length: 4 } });
  });

  it('keeps what turns text into vectors, and names what is different', () => {
    const providers = (key: string) => `providers: { p: { base_url: 'http://p', api_key: ${key} } }\n`;
    const models = 'models: { m: { provider: p } }\nroutes: { r: { chain: [m] } }\n';
    const store = storeOf(`${providers('a')}${models}`);
    write(`${providers('a')}${models}embedding: { provider: p, model: e }\ncache: { folder: ./v, vector_entries: 5 }`);
    const needsRestart = ['cache.vector_entries', 'cache.folder', 'embedding.provider', 'embedding.model'];
    expect(store.reload()).toEqual({ changed: false, needsRestart });
    expect(store.current.embedding).toEqual({ kind: 'builtin' });

    const other = storeOf(`${providers('a')}${models}embedding: { provider: p, model: e }`);
    write(`${providers('b')}${models}embedding: { provider: p, model: e }`);
    expect(other.reload()).toEqual({ changed: true, needsRestart: ['embedding.provider'] });
  });

  it('keeps the environment of its start', () => {
    const env = { HOST: '::1', NAME: 'a' };
    const store = storeOf("redis: { prefix: x }\nadmin: { key: '${NAME}' }", env);
    env.NAME = 'b';
    write("redis: { prefix: x }\nadmin: { key: '${NAME}${NAME}' }");
    store.reload();
    expect([store.current.admin.key, store.current.server.host]).toEqual(['aa', '::1']);
  });

  it('refuses to start with a bad file', () => {
    expect(() => storeOf('cache: { ttl_s: none }')).toThrow('cache.ttl_s');
  });
});

describe('ConfigModule', () => {
  it('gives every module the one store', async () => {
    const store = storeOf('');
    @Module({})
    class User {
      constructor(readonly config: ConfigStore) {}
    }
    @Module({ imports: [ConfigModule.forRoot(store), User] })
    class App {}
    const app = await NestFactory.createApplicationContext(App, { logger: false });
    expect(app.get(User).config).toBe(store);
    await app.close();
  });
});
