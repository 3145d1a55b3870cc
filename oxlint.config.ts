import { defineConfig } from 'oxlint';

/** The rooms of the core, which a replay runs, in order: a room imports only from those above it. */
const coreRooms = {
  base: 'values, digests, texts and sizes that know nothing of approvals',
  match: 'patterns and conditions: does this text or this call match?',
  redact: 'which parts of a text are secret or personal, and their placeholders',
  shell: 'what a split command looks like',
  assess: 'what an assessment looks like, and the rules that read one',
  people: 'who may answer: groups, delegations, quorums',
  policy: 'the policy language at work: layers, rulings, grants and limits',
  messages: 'what people send: shapes, signatures and senders',
  ledger: 'what was asked and how it was settled: the reducer, the journal and its tree',
};

/** The rooms that are as pure as the core, but that no replay runs, in order: they import the core and those above. */
const pureRooms = {
  text: 'texts for people, and what is read of texts, in no need of approvals',
  redact: 'redaction by patterns of a policy, of lines and of JSON, and its way back',
  shell: 'how a shell command falls into parts',
  assess: 'how bad a call would be',
  'policy-file': 'how a policy document is read, checked and explained',
  card: 'what a reviewer sees of a request, for every channel',
  events: 'what happened in a run, projected from its history',
  audit: 'the record of a run that an outsider can check: entries, proofs and their verification',
};

/** The rooms of the workflow code, in order. */
const workflowRooms = {
  sandbox: "what Temporal's sandbox does not offer: activations, payloads that never throw, state of one run",
  state:
    'what a gate knows: ledger, active policies, messages in flight, carried state; and the order of an activation',
  timing: 'deadlines, their one timer, and what happens while nobody answers',
  messages: 'the one pipeline that every message takes',
  gate: 'the gate: rulings, queries and the index of the inbox',
  guarded: 'the gate for workflows of other authors: guarded activities',
  agent: 'the agent run: turns, tool calls and nested runs',
  channels:
    'the workflows beside runs: one carries requests to channels and brings answers in, one delegates what comes',
};

/** The rooms of the client, in order; `client.ts` and what stands beside it is above them all. */
const clientRooms = {
  server: 'one call to the server or to a worker: connections, queries, payloads and records',
  history: 'the one reader of histories: facts, executions and journals',
  send: 'what people send to runs: decisions, commands and starts',
  inbox: 'what waits and what runs: lists, requests and runs as people see them',
  watch: 'run events while they happen',
  audit: 'the record of a run, its verification, and what rules and reviewers did',
  doctor: 'whether a namespace, a codec and workers are set up',
};

/** The one workflow file that reads workflow time. */
const clockReaders = ['src/workflows/sandbox/clock.ts'];

const workflowGlobals = [
  { name: 'process', message: 'workflow code reads no environment (I12).' },
  { name: 'fetch', message: 'workflow code does no I/O: use an activity.' },
  { name: 'Buffer', message: 'it does not exist in the workflow sandbox: use Uint8Array and TextEncoder.' },
  { name: 'console', message: 'use log of @temporalio/workflow, which is silent on replay.' },
];

/** Libraries that give the same answer everywhere. */
const pureLibraries = [
  '@bufbuild/cel',
  '@noble/ed25519',
  '@noble/hashes',
  '@noble/hashes/*',
  'canonicalize',
  'diff',
  'lossless-json',
  'minimatch',
  're2js',
  'unbash',
  'yaml',
  'zod',
];

const workflowLibraries = ['@temporalio', '@temporalio/workflow', '@temporalio/common', '@temporalio/common/**'];

/** Allows these imports and no other; each path needs its folders allowed, too. */
function only(allowed: readonly string[], message: string) {
  return { group: ['**', '!.', '!..', '!./*', ...allowed.map((each) => `!${each}`)], message };
}

function restrictedImports(...patterns: object[]) {
  return { 'no-restricted-imports': ['error', { patterns }] as ['error', object] };
}

/** For each room, in order: its files, the other rooms, and the patterns that refuse imports from the rooms below it. */
function orderOf(parent: 'core' | 'workflows' | 'client', rooms: Readonly<Record<string, string>>) {
  const names = Object.keys(rooms);
  return names.map((room, index) => {
    const earlier = names.slice(0, index).join(', ') || 'itself';
    const message = `${parent}/${room} holds ${rooms[room]}: it imports only from ${earlier}.`;
    const fromLater = names.slice(index + 1).map((name) => ({ regex: `^\\.\\./${name}/`, message }));
    const others = names.filter((name) => name !== room);
    return { files: [`src/${parent}/${room}/**/*.ts`], others, message, fromLater };
  });
}

/** Globals whose answers depend on the process or on the moment, so that a replay could differ. */
const pureGlobals = {
  'no-restricted-globals': [
    'error',
    {
      name: 'Date',
      message: 'core has no clock: the caller passes instants in, so that a replay gives the same answer (I12).',
    },
    { name: 'Intl', message: 'its answers depend on the build of Node, so a replay could differ (I12).' },
    {
      name: 'Buffer',
      message: 'it does not exist in the workflow sandbox: use Uint8Array and TextEncoder.',
    },
    { name: 'process', message: 'core reads no environment (I12).' },
    {
      name: 'crypto',
      message: 'it does not exist in the workflow sandbox, and core has no randomness (I12).',
    },
    { name: 'fetch', message: 'core does no I/O.' },
    ...['setTimeout', 'setInterval', 'setImmediate'].map((name) => ({ name, message: 'core has no timers.' })),
    ...['queueMicrotask', 'structuredClone'].map((name) => ({
      name,
      message: 'it does not exist in the workflow sandbox.',
    })),
    { name: 'performance', message: 'core has no clock (I12).' },
    { name: 'console', message: 'core does no I/O.' },
  ],
  'no-restricted-properties': [
    'error',
    {
      object: 'Math',
      property: 'random',
      message: 'core has no randomness: a replay must give the same answer (I12).',
    },
    {
      property: 'localeCompare',
      message: 'its order depends on the build of Node: compare code units (I12).',
    },
  ],
};

const coreSentence =
  'core gives the same answer in the workflow sandbox, in the CLI and in a test: it imports core and a few pure libraries, nothing else.';

const coreOverrides = orderOf('core', coreRooms).map(({ files, others, fromLater }) => ({
  files,
  rules: restrictedImports(
    ...fromLater,
    only([...others.flatMap((name) => [`../${name}`, `../${name}/*`]), ...pureLibraries], coreSentence),
  ),
}));

const pureNames = Object.keys(pureRooms);
const pureOverrides = Object.entries(pureRooms).map(([room, holds], index) => {
  const message = `this room gives the same answer everywhere: it holds ${holds}, and imports the core, the pure rooms above it and a few pure libraries.`;
  const above = pureNames.slice(0, index).flatMap((name) => [`../${name}`, `../${name}/*`]);
  return {
    files: [`src/${room}/**/*.ts`],
    rules: {
      ...restrictedImports(only(['../core', '../core/*', '../core/*/*', ...above, ...pureLibraries], message)),
      ...pureGlobals,
    },
  };
});

const workflowSentence =
  'workflow code is replayed: it imports core, the contract and the workflow SDK only, so that the bundle stays small and deterministic (I12).';

/** The rules of workflow code in a folder from which `up` leads to src/. */
function workflowImports(up: string, ...patterns: object[]) {
  const regex = up.replaceAll('.', '\\.');
  return restrictedImports(
    {
      regex: `^${regex}/(activities|channels)/`,
      allowTypeImports: true,
      message: 'workflow code takes activities and channels as types only: their effects must not enter the bundle.',
    },
    {
      regex: `^${regex}/(${Object.keys(pureRooms).join('|')})/`,
      message: 'no replay runs this room: a worker or a client does that work, and the run gets its result.',
    },
    ...patterns,
    only(
      [
        './*/*',
        ...(up === '..' ? [] : ['../*', '../*/*', '../..']),
        `${up}/core`,
        `${up}/core/*`,
        `${up}/core/*/*`,
        `${up}/contract.ts`,
        `${up}/codec`,
        `${up}/codec/plain-payload-converter.ts`,
        `${up}/activities`,
        `${up}/activities/*`,
        `${up}/channels`,
        `${up}/channels/**`,
        ...workflowLibraries,
      ],
      workflowSentence,
    ),
  );
}

const workflowOverrides = orderOf('workflows', workflowRooms).map(({ files, message, fromLater }) => ({
  files,
  rules: workflowImports('../..', { regex: '^\\.\\./[^./]+\\.ts$', message }, ...fromLater),
}));

/** Patterns that every file of the client keeps to. */
const clientImports = [
  {
    group: [
      '**/adapters/**',
      '**/activities/**',
      '**/worker.ts',
      '**/worker/**',
      '@temporalio/worker',
      '@temporalio/workflow',
    ],
    message: 'the client runs where no worker does: it imports core, the contract and the Temporal client only.',
  },
  { group: ['**/workflows/**'], allowTypeImports: true, message: 'the client takes workflows as types only.' },
];

const clientOverrides = orderOf('client', clientRooms).map(({ files, message, fromLater }) => ({
  files,
  rules: restrictedImports(...clientImports, { regex: '^\\.\\./[^./]+\\.ts$', message }, ...fromLater),
}));

const noEffects = {
  group: ['**/activities/**', '**/workflows/**', '**/models/**', '@temporalio/workflow', '@temporalio/activity'],
  message: 'an adapter only translates: it imports the client, core and the contract.',
};

export default defineConfig({
  plugins: ['typescript', 'unicorn', 'import', 'vitest', 'node'],
  categories: { correctness: 'error', suspicious: 'error' },
  env: { es2024: true, node: true },
  ignorePatterns: ['dist', 'coverage', 'test/fixtures', 'test/histories'],
  rules: {
    'import/no-cycle': ['error', { ignoreTypes: false }],
    'import/no-default-export': 'error',
    'import/no-named-as-default-member': 'off',
    'import/no-unassigned-import': 'off',
    'vitest/require-hook': 'off',
    'vitest/expect-expect': 'off',
    'vitest/no-conditional-expect': 'off',
    'vitest/require-to-throw-message': 'off',
    'vitest/no-conditional-tests': 'off',
    'vitest/require-mock-type-parameters': 'off',
    'no-console': 'error',
    'no-await-in-loop': 'off',
    'no-shadow': 'off',
    'typescript/consistent-return': 'off',
    'typescript/consistent-type-imports': 'error',
    'typescript/no-explicit-any': 'error',
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/no-unsafe-type-assertion': 'off',
    'typescript/only-throw-error': 'error',
    'typescript/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    'unicorn/consistent-function-scoping': 'off',
    'unicorn/no-array-sort': 'off',
    'unicorn/filename-case': ['error', { case: 'kebabCase' }],
    'unicorn/prefer-node-protocol': 'error',
  },
  overrides: [
    {
      files: ['src/core/**/*.ts'],
      rules: {
        ...restrictedImports(only(pureLibraries, coreSentence)),
        ...pureGlobals,
      },
    },
    ...coreOverrides,
    ...pureOverrides,
    {
      files: ['src/contract.ts'],
      rules: restrictedImports(
        only(
          [
            './core',
            './core/*',
            './core/*/*',
            './contract',
            './contract/*',
            '@temporalio',
            '@temporalio/workflow',
            '@temporalio/common',
          ],
          'the contract is what crosses to a run: it imports core and the workflow SDK only.',
        ),
      ),
    },
    {
      files: ['src/contract/*.ts'],
      rules: restrictedImports(only(['../core', '../core/*/*'], 'the shapes of a run are made of shapes of core.')),
    },
    {
      files: ['src/workflows/**/*.ts'],
      rules: {
        ...workflowImports('..'),
        'no-restricted-globals': [
          'error',
          ...workflowGlobals,
          {
            name: 'Date',
            message:
              'workflow time is only a lower bound: take it from clock in src/workflows/sandbox/clock.ts (docs/decisions/0058).',
          },
        ],
      },
    },
    ...workflowOverrides,
    { files: clockReaders, rules: { 'no-restricted-globals': ['error', ...workflowGlobals] } },
    {
      files: ['src/models/**/*.ts', 'src/agents/**/*.ts'],
      rules: restrictedImports({
        group: [
          '**/adapters/**',
          '**/client/**',
          '**/connection/**',
          '**/workflows/**',
          '**/worker.ts',
          '**/worker/**',
          '@temporalio/worker',
          '@temporalio/client',
        ],
        message:
          'agents, tools and models are what a user declares: they know core and the contract, not how a worker, a client or an edge is built.',
      }),
    },
    {
      files: ['src/activities/**/*.ts'],
      rules: restrictedImports({
        group: [
          '**/adapters/**',
          '**/workflows/**',
          '**/worker.ts',
          '**/worker/**',
          '@temporalio/worker',
          '@temporalio/workflow',
        ],
        allowTypeImports: true,
        message:
          'activities are the effects: they import core, the contract, agents and models; what they need of a connection is handed to them by worker.ts.',
      }),
    },
    {
      files: ['src/connection/**/*.ts'],
      rules: restrictedImports(
        only(
          [
            '../core',
            '../core/*',
            '../core/*/*',
            '../contract.ts',
            '../text',
            '../text/check-call-options.ts',
            '../text/loopback.ts',
            '@temporalio',
            '@temporalio/**',
            '@grpc/*',
            'node:crypto',
            'node:fs',
            'node:fs/promises',
            'node:module',
            'node:os',
            'node:path',
            'node:timers',
            'node:timers/*',
            'node:url',
          ],
          'connection holds what programs share to reach a server, and a file lock: it imports core, the contract, and checks of options and hosts only.',
        ),
      ),
    },
    {
      files: ['src/codec/**/*.ts'],
      rules: restrictedImports(
        only(
          [
            '../core',
            '../core/base/*',
            '../connection',
            '../connection/*',
            '../text',
            '../text/check-call-options.ts',
            '../text/read-fault.ts',
            '@temporalio',
            '@temporalio/common',
            '@temporalio/common/**',
            '@temporalio/proto',
            'node:*',
          ],
          'a codec turns payloads into payloads: it knows nothing of approvals, of a client or of a worker.',
        ),
      ),
    },
    {
      files: ['src/client/**/*.ts'],
      rules: restrictedImports(...clientImports),
    },
    ...clientOverrides,
    {
      files: ['src/channels/**/*.ts'],
      excludeFiles: ['src/channels/activities/*.ts'],
      rules: restrictedImports(
        only(
          [
            ...['core', 'client', 'agents', ...pureNames].flatMap((room) => [`../${room}`, `../../${room}`]),
            ...pureNames.flatMap((room) => [`../${room}/*`, `../../${room}/*`]),
            '../*',
            './outgoing/*',
            '../core/*/*',
            '../client/*',
            '../client/*/*',
            '../../core/*/*',
            '../agents/check-options.ts',
            '../agents/definition-error.ts',
            '../contract.ts',
            'node:*',
            'node:timers',
            'node:timers/*',
            'jose',
            'request-filtering-agent',
            'string-width',
            'zod',
          ],
          'channels reach reviewers or answer for them: they import core, the contract and the client; what needs a server or a service of its own is an adapter.',
        ),
      ),
    },
    { files: ['src/adapters/*.ts'], rules: restrictedImports(noEffects) },
    {
      files: ['src/adapters/*/**/*.ts'],
      rules: restrictedImports(noEffects, {
        regex: '^\\.\\./[^.]',
        message: 'an adapter never imports another adapter: what two of them need belongs in client or core.',
      }),
    },
    {
      files: ['packages/*/src/**/*.{ts,tsx}'],
      rules: restrictedImports({
        group: ['@temporalio/workflow', '@temporalio/activity', 'countersign/workflow'],
        message:
          'a program through which people reach runs only translates: the effects and the workflows are in countersign.',
      }),
    },
    {
      files: ['packages/cli/src/dev-server/**/*.ts'],
      rules: restrictedImports({
        group: ['../**', 'countersign/*', '!countersign/adapter', '!countersign/base'],
        message:
          "the dev server stands alone: it finds and runs Temporal, and knows the contract's search attributes only.",
      }),
    },
    {
      files: ['packages/gateway/src/inbox/**/*.{ts,tsx}'],
      env: { browser: true, node: false },
      rules: {
        ...restrictedImports(
          {
            group: ['**/http/**', '!**/http/inbox/open-view.ts'],
            allowTypeImports: true,
            message: 'the inbox takes the API as types only, and the one order of open requests.',
          },
          {
            group: [
              'countersign',
              'countersign/**',
              '!countersign/base',
              '!countersign/card',
              '!countersign/json',
              '!countersign/json',
              '!countersign/policy',
            ],
            allowTypeImports: true,
            message: 'the inbox runs in a browser: of countersign it imports what reaches no server.',
          },
          {
            group: ['@temporalio/**', 'node:*', 'react'],
            message: 'the inbox runs in a browser: it imports Preact and the types of the API.',
          },
        ),
        'no-restricted-properties': [
          'error',
          { property: 'innerHTML', message: 'texts are attacker-written: they become text nodes only.' },
        ],
        // Workers have no origin to name.
        'unicorn/require-post-message-target-origin': 'off',
      },
    },
    {
      files: ['packages/cli/src/**/*.ts', 'bench/**/*.ts', 'examples/**/*.ts', 'tools/**/*.ts'],
      rules: { 'no-console': 'off' },
    },
    {
      files: [
        'test/support/*.ts',
        'vitest.config.ts',
        '**/vite.config.ts',
        'oxlint.config.ts',
        'tools/mutation/fast-check-stand-in.ts',
        'examples/**/*.ts',
        '**/countersign.config.ts',
      ],
      rules: { 'import/no-default-export': 'off' },
    },
  ],
});
