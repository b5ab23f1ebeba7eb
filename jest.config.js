const { compilerOptions } = require('./tsconfig.json');

const shared = {
  rootDir: __dirname,
  testEnvironment: 'node',
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
          target: 'es2023',
        },
      },
    ],
  },
  moduleNameMapper: Object.fromEntries(
    Object.entries(compilerOptions.paths).map(([alias, [folder]]) => [
      `^${alias.replace('*', '([^/]+)')}$`,
      `<rootDir>/${folder.replace('*', '$1')}`,
    ]),
  ),
};

const project = (displayName, pattern, more = {}) => ({
  ...shared,
  displayName,
  testMatch: [`<rootDir>/${pattern}/**/*.spec.ts`],
  ...more,
});

module.exports = {
  // Also the lanes of the suites that start processes.
  maxWorkers: 2,
  testTimeout: 30_000,
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  projects: [
    project('unit', '{apps,libs}'),
    ...['contract', 'integration', 'cases', 'e2e', 'chaos'].map(name =>
      project(name, `test/${name}`, { runner: '<rootDir>/test/support/lanes-runner.cjs' }),
    ),
  ],
};
