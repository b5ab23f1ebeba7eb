/** Lets a child process of a test run the sources: `node -r run-typescript.cjs file.ts`. */
const { readFileSync } = require('node:fs');
const Module = require('node:module');
const path = require('node:path');
const { transformSync } = require('@swc/core');

const libs = path.join(__dirname, '../../libs');
const jsc = {
  parser: { syntax: 'typescript', decorators: true },
  transform: { legacyDecorator: true, decoratorMetadata: true },
  target: 'es2023',
};

require.extensions['.ts'] = (module, filename) => {
  const { code } = transformSync(readFileSync(filename, 'utf8'), { filename, jsc, module: { type: 'commonjs' } });
  module._compile(code, filename);
};

const resolve = Module._resolveFilename;
Module._resolveFilename = (request, ...rest) =>
  resolve(
    request.replace(/^@spillway\/(.+)$/, (_, lib) => path.join(libs, lib, 'src/index.ts')),
    ...rest,
  );
