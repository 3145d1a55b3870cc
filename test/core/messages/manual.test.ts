/** Runs the commands about signatures in docs/wire.md; needs OpenSSL 3. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseDecision } from '../../../src/core/messages/decision.ts';
import { parsePolicy } from '../../../src/policy-file/parse-policy.ts';
import { signedText, verifySignature } from '../../../src/core/messages/signature.ts';

const manual = readFileSync(new URL('../../../docs/wire.md', import.meta.url), 'utf8');
const commands = /^## Signatures\n.*?^```sh\n(.*?)^```/ms.exec(manual)![1]!;
const signal = /^temporal .*$/m.exec(commands)![0];
const offline = commands.replace(signal, '');

test('the decision that its commands sign is verified, in the run that they name', () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-wire-'));
  try {
    execFileSync('sh', ['-euc', offline], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
    const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
    const publicKey = read('ann.pub');
    const message = JSON.parse(read('decision.json')) as object;
    const to = { action: 'decide' as const, message, namespace: 'default', workflowId: 'run-1' };
    expect(parsePolicy({ reviewer_keys: { 'ann-laptop': publicKey } }, { ceiling: true })).toHaveProperty('policy');
    expect(parseDecision(message)).toHaveProperty('decision');
    expect(read('text')).toBe(signedText(to));
    expect(verifySignature({ ...to, publicKey })).toBe(true);
    expect(verifySignature({ ...to, workflowId: 'run-2', publicKey })).toBe(false);
    expect(signal).toContain('--workflow-id run-1 --name decide --input-file decision.json');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
