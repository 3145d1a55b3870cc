import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { assess } from '../../src/assess/assess.ts';
import { formatProblems, parsePolicy } from '../../src/policy-file/parse-policy.ts';
import type { Policy } from '../../src/core/policy/policy.ts';
import type { Action } from '../../src/core/policy/modes.ts';
import { compilePolicy, evaluate } from '../../src/core/policy/ruling.ts';
import type { JsonObject, Risk } from '../../src/core/base/tool-call.ts';

const folder = join(import.meta.dirname, '..', '..', 'presets');

const preset = (name: string): Policy => {
  const parsed = parsePolicy(readFileSync(join(folder, `${name}.yaml`), 'utf8'));
  if ('policy' in parsed) return parsed.policy;
  throw new Error(formatProblems(name, parsed.problems));
};

const calls = {
  read: { tool: 'read', args: {}, risk: 'read_only' },
  search: { tool: 'search_web', args: {}, risk: 'write' },
  save: { tool: 'save', args: {}, risk: 'write' },
  drop: { tool: 'drop_table', args: {}, risk: 'write' },
  wipe: { tool: 'wipe', args: {}, risk: 'destructive' },
  other: { tool: 'other', args: {}, risk: 'unknown' },
  passwords: { tool: 'read_file', args: { path: '/etc/shadow' }, risk: 'read_only' },
} satisfies Record<string, { tool: string; args: JsonObject; risk: Risk }>;

const table: Record<string, Record<keyof typeof calls, Action>> = {
  autonomous: {
    read: 'allow',
    search: 'allow',
    save: 'allow',
    drop: 'allow',
    wipe: 'allow',
    other: 'allow',
    passwords: 'allow',
  },
  strict: { read: 'ask', search: 'ask', save: 'ask', drop: 'ask', wipe: 'ask', other: 'ask', passwords: 'ask' },
  practical: {
    read: 'allow',
    search: 'allow',
    save: 'ask',
    drop: 'deny',
    wipe: 'deny',
    other: 'ask',
    passwords: 'allow',
  },
  development: {
    read: 'allow',
    search: 'allow',
    save: 'allow',
    drop: 'allow',
    wipe: 'ask',
    other: 'ask',
    passwords: 'ask',
  },
  production: { read: 'allow', search: 'ask', save: 'ask', drop: 'ask', wipe: 'ask', other: 'ask', passwords: 'ask' },
  ci: { read: 'allow', search: 'deny', save: 'deny', drop: 'deny', wipe: 'deny', other: 'deny', passwords: 'deny' },
  sandbox: {
    read: 'allow',
    search: 'allow',
    save: 'allow',
    drop: 'allow',
    wipe: 'allow',
    other: 'allow',
    passwords: 'allow',
  },
  research: { read: 'ask', search: 'ask', save: 'ask', drop: 'ask', wipe: 'ask', other: 'ask', passwords: 'ask' },
};

test('each preset is in the table', () => {
  expect(readdirSync(folder).sort()).toEqual(
    Object.keys(table)
      .sort()
      .map((name) => `${name}.yaml`),
  );
});

describe.each(Object.entries(table))('%s', (name, answers) => {
  test.each(Object.entries(answers))('%s: %s', (call, action) => {
    const ruled = calls[call as keyof typeof calls];
    const layers = { run: compilePolicy(preset(name), 'run') };
    expect(evaluate(layers, ruled, { assessment: assess(ruled) }).action).toBe(action);
  });
});

test('the sandbox preset has a warning', () => {
  expect(readFileSync(join(folder, 'sandbox.yaml'), 'utf8')).toMatch(/^# WARNING: /);
});
