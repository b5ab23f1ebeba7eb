import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigurationError } from '@spillway/config';
import { loadModel, locateTransformers, modelSource } from './transformers-package';

describe('locateTransformers', () => {
  it('is the file of the package', () => {
    expect(locateTransformers(name => `/modules/${name}`)).toBe('/modules/@huggingface/transformers');
  });

  it('tells how to install what is not there', () => {
    const missing = (): string => {
      throw new Error('Cannot find module');
    };
    expect(() => locateTransformers(missing)).toThrow(ConfigurationError);
    expect(() => locateTransformers(missing)).toThrow(
      /embedding\.provider: .*npm install --no-save @huggingface\/transformers@\d/,
    );
  });
});

describe('modelSource', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'spillway-model-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('is a name on the hub, where it is no path', () => {
    expect(modelSource('Xenova/multilingual-e5-small')).toEqual({
      isFolder: false,
      name: 'Xenova/multilingual-e5-small',
      dtype: 'q8',
    });
  });

  it('is a folder, in eight bits where it has them', () => {
    expect(modelSource(folder)).toEqual({ isFolder: true, name: folder, dtype: 'fp32' });
    mkdirSync(join(folder, 'onnx'));
    writeFileSync(join(folder, 'onnx/model_quantized.onnx'), '');
    expect(modelSource(folder).dtype).toBe('q8');
  });

  it.each(['./no-such-folder', '/no/such/folder', '..\\no-such-folder'])(
    'is not a folder that is missing: %s',
    path => {
      expect(() => modelSource(path)).toThrow(ConfigurationError);
      expect(() => modelSource(path)).toThrow('embedding.model: there is no folder');
    },
  );
});

describe('loadModel', () => {
  it('asks the network for no folder', async () => {
    const asked: unknown[] = [];
    const pipeline = (...words: unknown[]): Promise<never> => Promise.reject(asked.push(words));
    await loadModel({ pipeline }, { isFolder: true, name: '/model', dtype: 'fp32' }).catch(() => null);
    await loadModel({ pipeline }, { isFolder: false, name: 'a/b', dtype: 'q8' }).catch(() => null);
    expect(asked).toMatchObject([
      ['feature-extraction', '/model', { dtype: 'fp32', local_files_only: true }],
      ['feature-extraction', 'a/b', { dtype: 'q8', local_files_only: false }],
    ]);
  });
});
