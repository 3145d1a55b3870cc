/** Tests of pure code, and tests that need the real Temporal server (one is started for all of them). */
const shared = {
  rootDir: import.meta.dirname,
  roots: ['<rootDir>/test'],
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '\\.ts$': [
      '@swc/jest',
      {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2023', keepClassNames: true },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
};

const durableFolders = ['workflows', 'client', 'connection', 'adapters', 'dev-server', 'e2e', 'channels', 'examples'];

export default {
  reporters: [
    'default',
    '<rootDir>/test/support/replay-reporter.cjs',
    '<rootDir>/test/support/slowest-files-reporter.cjs',
    '<rootDir>/test/support/closing-line-reporter.cjs',
  ],
  // With more, two cores are full, and tests that wait for an answer in time fail.
  maxWorkers: 3,
  // A worker keeps what its test files have loaded: without a limit each grows to several gigabytes.
  workerIdleMemoryLimit: '2GB',
  projects: [
    {
      ...shared,
      displayName: 'pure',
      testMatch: ['<rootDir>/test/**/*.test.ts'],
      testPathIgnorePatterns: ['/node_modules/', `<rootDir>/test/(${durableFolders.join('|')})/`],
    },
    {
      ...shared,
      displayName: 'durable',
      testMatch: durableFolders.map((folder) => `<rootDir>/test/${folder}/**/*.test.ts`),
      setupFilesAfterEnv: ['<rootDir>/test/support/patience.ts'],
      globalSetup: '<rootDir>/test/support/global-setup.ts',
      globalTeardown: '<rootDir>/test/support/global-teardown.ts',
    },
  ],
};
