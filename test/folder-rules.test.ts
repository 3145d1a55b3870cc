import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const root = join(import.meta.dirname, '..');
const oxlint = join(root, 'node_modules', 'oxlint', 'bin', 'oxlint');

/** One line of code in one place, and what the rules must say of it; undefined: nothing. */
const cases: [file: string, line: string, refusal: RegExp | undefined][] = [
  ['src/core/sample.ts', "import { a } from './other.ts';", undefined],
  ['src/core/sample.ts', "import { a } from 'minimatch';", undefined],
  ['src/core/sample.ts', "import { a } from '@noble/hashes/sha2.js';", undefined],
  ['src/core/sample.ts', "import { a } from 'node:fs';", /^core gives the same answer/],
  ['src/core/sample.ts', "import { a } from '../contract.ts';", /^core gives the same answer/],
  ['src/core/sample.ts', "import type { a } from '../client/client.ts';", /^core gives the same answer/],
  ['src/core/sample.ts', "import { a } from '@temporalio/workflow';", /^core gives the same answer/],
  ['src/core/sample.ts', 'export const at = Date.now();', /core has no clock/],
  ['src/core/sample.ts', 'export const at = Math.random();', /core has no randomness/],
  ['src/core/sample.ts', 'export const at = process.env;', /core reads no environment/],
  ['src/contract.ts', "import { a } from './core/problem.ts';", undefined],
  ['src/contract.ts', "import { a } from './client/client.ts';", /^the contract is what crosses/],
  ['src/workflows/sample.ts', "import { a } from '../core/ledger.ts';", undefined],
  ['src/workflows/sample.ts', "import { a } from '../contract.ts';", undefined],
  ['src/workflows/sample.ts', "import { a } from '@temporalio/workflow';", undefined],
  ['src/workflows/sample.ts', "import type { a } from '../activities/call-tool.ts';", undefined],
  [
    'src/workflows/sample.ts',
    "import { a } from '../activities/call-tool.ts';",
    /^workflow code takes activities as types/,
  ],
  [
    'src/workflows/sample.ts',
    "import { a } from '../core/parse-policy.ts';",
    /^reading a policy file needs zod and yaml/,
  ],
  ['src/workflows/sample.ts', "import { a } from '../core/shell-parts.ts';", undefined],
  [
    'src/workflows/sample.ts',
    "import { a } from '../core/shell-split.ts';",
    /^splitting a shell command needs a parser/,
  ],
  ['src/workflows/sample.ts', "import { a } from 'unbash';", /^workflow code is replayed/],
  ['src/core/sample.ts', "import { a } from 'unbash';", undefined],
  ['src/workflows/sample.ts', "import { a } from 'zod';", /^workflow code is replayed/],
  ['src/workflows/sample.ts', "import { a } from 'node:crypto';", /^workflow code is replayed/],
  ['src/workflows/sample.ts', "import { a } from '../client/client.ts';", /^workflow code is replayed/],
  ['src/workflows/messages/sample.ts', "import { a } from '../../core/ledger.ts';", undefined],
  ['src/workflows/messages/sample.ts', "import { a } from '../gate-state.ts';", undefined],
  ['src/workflows/messages/sample.ts', "import type { a } from '../../activities/call-tool.ts';", undefined],
  [
    'src/workflows/messages/sample.ts',
    "import { a } from '../../activities/call-tool.ts';",
    /^workflow code takes activities as types/,
  ],
  [
    'src/workflows/messages/sample.ts',
    "import { a } from '../../core/shell-split.ts';",
    /^splitting a shell command needs a parser/,
  ],
  [
    'src/workflows/messages/sample.ts',
    "import { a } from '../../core/parse-policy.ts';",
    /^reading a policy file needs zod and yaml/,
  ],
  ['src/workflows/messages/sample.ts', "import { a } from '../../client/client.ts';", /^workflow code is replayed/],
  ['src/workflows/messages/sample.ts', "import { a } from 'zod';", /^workflow code is replayed/],
  ['src/activities/sample.ts', "import { a } from '../models/ask-model.ts';", undefined],
  ['src/activities/sample.ts', "import { a } from '../workflows/index.ts';", /^activities are the effects/],
  [
    'src/agents/sample.ts',
    "import { a } from '../client/client.ts';",
    /^agents, tools and models are what a user declares/,
  ],
  [
    'src/models/sample.ts',
    "import { a } from '@temporalio/worker';",
    /^agents, tools and models are what a user declares/,
  ],
  ['src/client/sample.ts', "import { a } from '../core/ledger.ts';", undefined],
  ['src/client/sample.ts', "import { a } from '@temporalio/worker';", /^the client runs where no worker does/],
  ['src/client/sample.ts', "import { a } from '../workflows/index.ts';", /^the client takes workflows as types/],
  ['src/client/sample.ts', "import type { a } from '../workflows/index.ts';", undefined],
  ['src/dev-server/sample.ts', "import { a } from '../worker.ts';", /^the dev server stands alone/],
  ['src/adapters/cli/sample.ts', "import { a } from './other.ts';", undefined],
  ['src/adapters/cli/sample.ts', "import { a } from '../../client/client.ts';", undefined],
  ['src/adapters/cli/sample.ts', "import { a } from '../../workflows/index.ts';", /^an adapter only translates/],
  ['src/adapters/cli/sample.ts', "import { a } from '../http/server.ts';", /^an adapter never imports another/],
  ['src/adapters/http/sample.ts', "import { a } from '../cli/main.ts';", /^an adapter never imports another/],
];

/** A folder with the project's rules for each case, so that one file can be written in many ways; linted at once. */
let folder: string;
let diagnostics: { code: string; message: string; help?: string; filename: string }[];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-rules-'));
  for (const [index, [file, line]] of cases.entries()) {
    const path = join(folder, String(index), file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `${line}\n`);
    copyFileSync(join(root, '.oxlintrc.json'), join(folder, String(index), '.oxlintrc.json'));
  }
  const { stdout } = spawnSync(process.execPath, [oxlint, '--format=json'], { cwd: folder, encoding: 'utf8' });
  ({ diagnostics } = JSON.parse(stdout) as { diagnostics: typeof diagnostics });
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the folder rules of .oxlintrc.json', () => {
  test.each(cases.map((each, index) => [index, ...each] as const))('%i %s: %s', (index, _file, _line, refusal) => {
    const sentences = diagnostics
      .filter(({ code, filename }) => code.includes('no-restricted-') && filename.startsWith(`${index}/`))
      .flatMap(({ message, help = '' }) => [message, help]);
    const expected = refusal === undefined ? [] : expect.arrayContaining([expect.stringMatching(refusal)]);
    expect(sentences).toEqual(expected);
  });
});
