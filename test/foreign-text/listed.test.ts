import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { auditInputs } from '../support/foreign-text/audit-inputs.ts';
import { baseInputs } from '../support/foreign-text/base-inputs.ts';
import { cardInputs } from '../support/foreign-text/card-inputs.ts';
import { channelInputs } from '../support/foreign-text/channel-inputs.ts';
import { commandLineInputs } from '../support/foreign-text/command-line-inputs.ts';
import { edgeInputs } from '../support/foreign-text/edge-inputs.ts';
import { textFunctions } from '../support/foreign-text/exported-functions.ts';
import { inboxInputs } from '../support/foreign-text/inbox-inputs.ts';
import { ledgerInputs } from '../support/foreign-text/ledger-inputs.ts';
import { matchInputs } from '../support/foreign-text/match-inputs.ts';
import { messageInputs } from '../support/foreign-text/message-inputs.ts';
import { notMeasured } from '../support/foreign-text/not-measured.ts';
import { policyInputs } from '../support/foreign-text/policy-inputs.ts';
import { workerInputs } from '../support/foreign-text/worker-inputs.ts';

const all = [
  baseInputs,
  matchInputs,
  messageInputs,
  policyInputs,
  ledgerInputs,
  cardInputs,
  auditInputs,
  workerInputs,
  channelInputs,
  edgeInputs,
  commandLineInputs,
  inboxInputs,
];
const root = join(import.meta.dirname, '..', '..');

test('every function that may be given text from elsewhere is measured, or a reason says why not', () => {
  const measured = all.flatMap((inputs) => Object.keys(inputs));
  const listed = [...measured, ...Object.values(notMeasured).flat()];
  expect(listed.toSorted()).toEqual(textFunctions().toSorted());
});

test('a new function that takes text is found', () => {
  expect(textFunctions()).toContain('core/base/json.ts strictJsonProblem');
  expect(textFunctions()).toContain('events/known-secrets.ts KnownSecrets.beginsAt');
  expect(textFunctions()).toContain('packages/cli/src/inbox/preview-request.ts previewRequest');
  expect(textFunctions()).toContain('client/watch/watch-run.ts watchRun');
  expect(textFunctions()).toContain('agents/open-toolsets.ts OpenToolsets.find');
  expect(textFunctions()).toContain('activities/load-agent.ts readRunPolicy');
  expect(textFunctions()).toContain('policy-file/shape.ts checked');
  expect(textFunctions()).toContain('packages/gateway/src/inbox/parts/shown-text.tsx Marked');
});

test('Unicode is normalized in one file only, which bounds its time', () => {
  const files = globSync(['src/**/*.ts', 'packages/*/src/**/*.ts'], { cwd: root }).filter((file) =>
    // Of a single character, the time is constant.
    readFileSync(join(root, file), 'utf8').replaceAll('character.normalize(', '').includes('.normalize('),
  );
  expect(files).toEqual(['src/core/base/text.ts']);
});
