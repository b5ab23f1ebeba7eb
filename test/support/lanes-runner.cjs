const { readFileSync } = require('node:fs');
const { default: TestRunner } = require('jest-runner');

const ALONE = /^\/\*\* @alone /m;

/**
 * For suites that start processes: they mostly wait, so that several run at once, each in a worker of Jest. A suite that
 * says `@alone`, with its reason, has the machine to itself: these follow one after another.
 */
module.exports = class LanesRunner extends TestRunner {
  async runTests(tests, watcher, options) {
    const isAlone = ({ path }) => ALONE.test(readFileSync(path, 'utf8'));
    await super.runTests(
      tests.filter(test => !isAlone(test)),
      watcher,
      options,
    );
    this._globalConfig = { ...this._globalConfig, maxWorkers: 1 };
    await super.runTests(tests.filter(isAlone), watcher, options);
  }
};
