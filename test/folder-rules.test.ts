import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const oxlint = join(root, 'node_modules', 'oxlint', 'bin', 'oxlint');

/** One line of code in one place, and what the rules must say of it; undefined: nothing. */
const cases: [file: string, line: string, refusal: RegExp | undefined][] = [
  ['src/core/base/sample.ts', "import { a } from './other.ts';", undefined],
  ['src/core/base/sample.ts', "import { a } from 'minimatch';", undefined],
  ['src/core/base/sample.ts', "import { a } from '@noble/hashes/sha2.js';", undefined],
  ['src/core/base/sample.ts', "import { a } from 'node:fs';", /^core gives the same answer/],
  ['src/core/base/sample.ts', "import { a } from '../../contract.ts';", /^core gives the same answer/],
  ['src/core/base/sample.ts', "import type { a } from '../../client/client.ts';", /^core gives the same answer/],
  ['src/core/base/sample.ts', "import { a } from '@temporalio/workflow';", /^core gives the same answer/],
  ['src/core/base/sample.ts', 'export const at = Date.now();', /core has no clock/],
  ['src/core/base/sample.ts', 'export const at = Math.random();', /core has no randomness/],
  ['src/core/base/sample.ts', 'export const at = process.env;', /core reads no environment/],
  ['src/shell/sample.ts', "import { a } from 'unbash';", undefined],
  ['src/shell/sample.ts', "import { a } from '../core/shell/parts.ts';", undefined],
  [
    'src/shell/sample.ts',
    "import type { a } from '../card/card-of.ts';",
    /^this room gives the same answer everywhere/,
  ],
  ['src/card/sample.ts', "import { a } from '../shell/split.ts';", undefined],
  ['src/card/sample.ts', "import { a } from '../client/client.ts';", /^this room gives the same answer everywhere/],
  ['src/card/sample.ts', 'export const at = Date.now();', /no clock/],
  ['src/core/ledger/sample.ts', "import type { a } from '../../card/card-of.ts';", /^core gives the same answer/],
  ['src/core/policy/sample.ts', "import { a } from '../people/directory.ts';", undefined],
  [
    'src/core/policy/sample.ts',
    "import type { a } from '../ledger/ledger.ts';",
    /^core\/policy holds the policy language/,
  ],
  ['src/core/base/sample.ts', "import type { a } from '../match/glob.ts';", /^core\/base holds values/],
  ['src/core/ledger/sample.ts', "import { a } from '../messages/decision.ts';", undefined],
  ['src/core/sample.ts', "import { a } from './base/problem.ts';", /^core gives the same answer/],
  ['src/contract.ts', "import { a } from './core/base/problem.ts';", undefined],
  ['src/contract.ts', "import { a } from './client/client.ts';", /^the contract is what crosses/],
  ['src/workflows/sample.ts', "import { a } from './agent/agent-run.ts';", undefined],
  ['src/workflows/sample.ts', "import { a } from '../client/client.ts';", /^workflow code is replayed/],
  ['src/workflows/gate/sample.ts', "import { a } from '../../core/ledger/ledger.ts';", undefined],
  ['src/workflows/gate/sample.ts', "import { a } from '../../contract.ts';", undefined],
  ['src/workflows/gate/sample.ts', "import { a } from '../state/gate-state.ts';", undefined],
  ['src/workflows/gate/sample.ts', "import { a } from '@temporalio/workflow';", undefined],
  ['src/workflows/gate/sample.ts', "import type { a } from '../../activities/call-tool.ts';", undefined],
  [
    'src/workflows/gate/sample.ts',
    "import { a } from '../../activities/call-tool.ts';",
    /^workflow code takes activities and channels as types/,
  ],
  [
    'src/workflows/gate/sample.ts',
    "import { a } from '../../policy-file/parse-policy.ts';",
    /^no replay runs this room/,
  ],
  ['src/workflows/gate/sample.ts', "import { a } from '../../core/shell/parts.ts';", undefined],
  ['src/workflows/gate/sample.ts', "import { a } from '../../shell/split.ts';", /^no replay runs this room/],
  ['src/workflows/gate/sample.ts', "import { a } from 'unbash';", /^workflow code is replayed/],
  ['src/workflows/gate/sample.ts', "import { a } from 'zod';", /^workflow code is replayed/],
  ['src/workflows/gate/sample.ts', "import { a } from 'node:crypto';", /^workflow code is replayed/],
  ['src/workflows/gate/sample.ts', "import { a } from '../../client/client.ts';", /^workflow code is replayed/],
  [
    'src/workflows/gate/sample.ts',
    "import type { a } from '../agent/run-state.ts';",
    /^workflows\/gate holds the gate/,
  ],
  ['src/workflows/gate/sample.ts', "import { a } from '../interceptors.ts';", /^workflows\/gate holds the gate/],
  ['src/workflows/gate/sample.ts', 'export const at = Date.now();', /workflow time is only a lower bound/],
  ['src/workflows/gate/sample.ts', 'export const at = new Date();', /workflow time is only a lower bound/],
  ['src/workflows/gate/sample.ts', 'export const at = process.env;', /workflow code reads no environment/],
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
  ['src/connection/sample.ts', "import { a } from '../core/base/problem.ts';", undefined],
  ['src/codec/sample.ts', "import { a } from '../client/client.ts';", /^a codec turns payloads into payloads/],
  ['src/connection/sample.ts', "import { a } from '../client/client.ts';", /^connection holds what programs share/],
  ['src/client/sample.ts', "import { a } from '../core/ledger/ledger.ts';", undefined],
  ['src/client/sample.ts', "import { a } from '@temporalio/worker';", /^the client runs where no worker does/],
  ['src/client/sample.ts', "import { a } from '../workflows/index.ts';", /^the client takes workflows as types/],
  ['src/client/sample.ts', "import type { a } from '../workflows/index.ts';", undefined],
  ['src/client/send/sample.ts', "import { a } from '../server/session.ts';", undefined],
  ['src/client/send/sample.ts', "import { a } from '../inbox/list-runs.ts';", /^client\/send holds what people send/],
  ['src/client/send/sample.ts', "import { a } from '../client.ts';", /^client\/send holds what people send/],
  ['src/client/send/sample.ts', "import { a } from '@temporalio/worker';", /^the client runs where no worker does/],
  ['src/channels/sample.ts', "import { a } from '../client/client.ts';", undefined],
  ['src/channels/sample.ts', "import { a } from '../card/card-of.ts';", undefined],
  ['src/channels/sample.ts', "import { a } from '../adapters/slack/client.ts';", /^channels reach reviewers/],
  ['src/channels/sample.ts', "import { a } from '../workflows/index.ts';", /^channels reach reviewers/],
  ['src/adapters/slack/sample.ts', "import { a } from './other.ts';", undefined],
  ['src/adapters/slack/sample.ts', "import { a } from '../../client/client.ts';", undefined],
  ['src/adapters/slack/sample.ts', "import { a } from '../../workflows/index.ts';", /^an adapter only translates/],
  ['src/adapters/slack/sample.ts', "import { a } from '../email/mail-server.ts';", /^an adapter never imports another/],
  ['src/adapters/new/sample.ts', "import type { a } from '../slack/other.ts';", /^an adapter never imports another/],
  ['packages/cli/src/sample.ts', "import { a } from 'countersign/workflow';", /^a program through which people reach/],
  ['packages/cli/src/dev-server/sample.ts', "import { a } from 'countersign/base';", undefined],
  ['packages/cli/src/dev-server/sample.ts', "import { a } from 'countersign/worker';", /^the dev server stands alone/],
  ['packages/cli/src/dev-server/sample.ts', "import { a } from '../main.ts';", /^the dev server stands alone/],
  ['packages/gateway/src/inbox/sample.ts', "import { a } from 'countersign/card';", undefined],
  ['packages/gateway/src/inbox/list/sample.ts', "import type { a } from '../../http/inbox/api.ts';", undefined],
  [
    'packages/gateway/src/inbox/list/sample.ts',
    "import { a } from '../../http/inbox/api.ts';",
    /^the inbox takes the API as types/,
  ],
  ['packages/gateway/src/inbox/sample.ts', "import { a } from 'countersign/adapter';", /^the inbox runs in a browser/],
  ['packages/gateway/src/inbox/sample.ts', "import type { a } from 'countersign/client';", undefined],
];

interface Diagnostic {
  code: string;
  message: string;
  help?: string;
  filename: string;
  labels: { span: { line: number } }[];
}

/** A folder with the project's rules and a line for each case, linted at once. */
let folder: string;
let diagnostics: Diagnostic[];
const lines = new Map<string, string[]>();
const places = cases.map(([file, line], index) => {
  const withOwnName = line.replace(/\b(a|at)\b(?= [}=])/, `$1${index}`);
  lines.set(file, [...(lines.get(file) ?? []), withOwnName]);
  return { file, line: lines.get(file)!.length };
});

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-rules-'));
  for (const [file, text] of lines) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), `${text.join('\n')}\n`);
  }
  copyFileSync(join(root, 'oxlint.config.ts'), join(folder, 'oxlint.config.ts'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const { stdout } = spawnSync(process.execPath, [oxlint, '--format=json', 'src', 'packages'], {
    cwd: folder,
    encoding: 'utf8',
  });
  ({ diagnostics } = JSON.parse(stdout) as { diagnostics: Diagnostic[] });
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the folder rules of oxlint.config.ts', () => {
  test.each(cases.map((each, index) => [...each, places[index]!] as const))(
    '%s: %s',
    (_file, _line, refusal, place) => {
      const sentences = diagnostics
        .filter(
          ({ code, filename, labels }) =>
            code.includes('no-restricted-') &&
            filename.endsWith(place.file) &&
            labels.some(({ span }) => span.line === place.line),
        )
        .flatMap(({ message, help = '' }) => [message, help]);
      const expected = refusal === undefined ? [] : expect.arrayContaining([expect.stringMatching(refusal)]);
      expect(sentences).toEqual(expected);
    },
  );
});
