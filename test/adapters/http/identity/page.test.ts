import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { permissions, roles } from '../../../../packages/gateway/src/http/identity/principal.ts';
import { parsePolicy } from '../../../../src/policy-file/parse-policy.ts';
import { identityOf } from '../../../support/identity.ts';
import { commandsOf, readPage } from '../../../support/page-commands.ts';
import { examplesOf, rowsOf } from '../../../support/policy-pages.ts';

const page = readPage('docs/identity.md');
const examples = examplesOf(page);
const env = { SHOP_TOKEN: 'x'.repeat(32), SESSION_KEY: 'y'.repeat(32), OIDC_SECRET: 'z' };

test.each(examples.filter(({ kind }) => kind === 'identity').map(({ source }) => [source]))('is read: %s', (source) => {
  const identity = identityOf(source, env);
  expect(identity.tokens.length > 0 || identity.oidc !== undefined).toBe(true);
  // Nothing of it prints a secret.
  const printed = JSON.stringify(identity);
  for (const secret of Object.values(env).slice(0, 2)) expect(printed).not.toContain(secret);
});

test('what is refused, with the sentence of the page', () => {
  const refused = examples.filter(({ kind }) => kind === 'refused');
  expect(refused).toHaveLength(1);
  for (const { source, after } of refused) {
    const [, sentence] = /```text\n(.*?)\n```/s.exec(after)!;
    expect(() => identityOf(source, env)).toThrow(sentence!);
  }
});

test('the policy of the page', () => {
  const [policy] = examples.filter(({ kind }) => kind === 'ceiling');
  expect(parsePolicy(policy!.source, { ceiling: true })).toMatchObject({
    policy: { reviewerKeys: { gateway: { signsFor: ['group:finance'] } } },
  });
});

test('the table of roles has all roles, and says truly who reads', () => {
  const section = page.slice(page.indexOf('## Roles'), page.indexOf('## Bearer'));
  expect(rowsOf(section).map(({ role }) => role)).toEqual([...roles]);
  expect(permissions['GET /approvals']).toEqual([...roles]);
});

test('the commands make a token and its hash', () => {
  const lines = commandsOf('docs/identity.md').flatMap(({ line, isWhole }) =>
    isWhole && line.includes('openssl') ? [line] : [],
  );
  expect(lines).toHaveLength(2);
  const folder = mkdtempSync(join(tmpdir(), 'countersign-token-'));
  try {
    const [, hash] = lines.map((line) => execFileSync('sh', ['-c', line], { cwd: folder, encoding: 'utf8' }));
    const token = execFileSync('cat', ['ann.token'], { cwd: folder, encoding: 'utf8' }).trim();
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    expect(hash).toContain(createHash('sha256').update(token).digest('hex'));
  } finally {
    rmSync(folder, { recursive: true });
  }
});
