const { default: TestRunner } = require('jest-runner');

/** Runs its suites one after another, however many workers Jest has: what starts processes needs the machine to itself. */
module.exports = class SerialRunner extends TestRunner {
  isSerial = true;
};
