/** The table of docs/policy-reference.md that says what reviewers see. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';
import { sensitiveKinds } from '../../../src/core/redact/kinds.ts';
import { redactedArguments, redactionOf } from '../../../src/core/redact/redaction.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/policy-reference.md'), 'utf8');
const [, table = ''] = /^\| arguments of the call .*\n.*\n((?:\|.*\n)+)/m.exec(page) ?? [];
const rows = [...table.matchAll(/`(.*?)` *\| *`(.*?)`/g)].map(([, args, shown]) => [args!, shown!] as const);

test('the table has rows', () => expect(rows.length).toBeGreaterThan(8));

test.each(rows)('%s', (args, shown) => {
  const given = JSON.parse(args) as JsonObject;
  const settings = { kinds: sensitiveKinds, patterns: [], also: [] };
  expect(redactedArguments(given, redactionOf(given, { settings }).values)).toEqual(JSON.parse(shown));
});
