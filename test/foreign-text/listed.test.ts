import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { baseInputs } from '../support/foreign-text/base-inputs.ts';
import { cardInputs } from '../support/foreign-text/card-inputs.ts';
import { edgeInputs } from '../support/foreign-text/edge-inputs.ts';
import { textFunctions } from '../support/foreign-text/exported-functions.ts';
import { matchInputs } from '../support/foreign-text/match-inputs.ts';
import { messageInputs } from '../support/foreign-text/message-inputs.ts';
import { notMeasured } from '../support/foreign-text/not-measured.ts';

const root = join(import.meta.dirname, '..', '..');

test('every function that may be given text from elsewhere is measured, or a reason says why not', () => {
  const measured = [baseInputs, matchInputs, messageInputs, cardInputs, edgeInputs].flatMap((inputs) =>
    Object.keys(inputs),
  );
  const listed = [...measured, ...Object.values(notMeasured).flat()];
  expect(listed.toSorted()).toEqual(textFunctions().toSorted());
});

test('a new function that takes text is found', () => {
  expect(textFunctions()).toContain('core/base/strict-json.ts strictJsonProblem');
  expect(textFunctions()).toContain('events/known-secrets.ts KnownSecrets.beginsAt');
});

test('Unicode is normalized in one file only, which bounds its time', () => {
  const files = globSync(['src/**/*.ts', 'packages/*/src/**/*.ts'], { cwd: root }).filter((file) =>
    // Of a single character, the time is constant.
    readFileSync(join(root, file), 'utf8').replaceAll('character.normalize(', '').includes('.normalize('),
  );
  expect(files).toEqual(['src/core/base/normal-text.ts']);
});
