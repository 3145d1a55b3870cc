/** Prints the 20 slowest test files of a whole run, with their seconds: where time is to be saved. */
'use strict';

const path = require('node:path');

const shown = 20;

class SlowestFilesReporter {
  onRunComplete(_contexts, { testResults }) {
    if (testResults.length <= shown) return;
    const seconds = ({ perfStats: { start, end } }) => (end - start) / 1_000;
    const sum = testResults.reduce((total, each) => total + seconds(each), 0);
    const slowest = testResults.toSorted((one, other) => seconds(other) - seconds(one)).slice(0, shown);
    const line = (each) => `  ${seconds(each).toFixed(1).padStart(6)} s  ${path.relative('.', each.testFilePath)}`;
    process.stderr.write(
      `The ${shown} slowest of ${testResults.length} files, which took ${Math.round(sum)} s in all:\n`,
    );
    process.stderr.write(`${slowest.map(line).join('\n')}\n`);
  }
}

module.exports = SlowestFilesReporter;
