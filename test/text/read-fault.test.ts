import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readJsonOrFile } from '../../packages/cli/src/base/read-text.ts';
import { readKeyFile } from '../../packages/cli/src/base/reviewer.ts';
import { readFileText, readPolicyDocument, readPolicyFile } from '../../packages/cli/src/policy/policy-file.ts';
import { readIdentityFile } from '../../packages/gateway/src/http/identity/identity-file.ts';
import { readChannels } from '../../src/adapters/read-channels.ts';
import { readPem } from '../../src/channels/channel-kind.ts';
import { EncryptionCodec } from '../../src/codec/encryption-codec.ts';
import { readScript } from '../../src/models/scripted.ts';
import { loadPolicy } from '../../src/worker/activity-side.ts';

const folder = mkdtempSync(join(tmpdir(), 'countersign-fault-'));
const path = join(folder, 'named.yaml');
mkdirSync(path);
afterAll(() => rmSync(folder, { recursive: true }));

/** Each reader of a file that a user names. */
const readers: Record<string, () => unknown> = {
  "a worker's policy": () => loadPolicy(path, 'policy', {}),
  channels: () => readChannels(path),
  "a channel's key": () => readPem(path, 'private_key'),
  'encryption keys': () => new EncryptionCodec({ keys: { file: path } }),
  'a script of a model': () => readScript(path),
  'an identity file': () => readIdentityFile(path),
  'a policy of a command': () => readPolicyFile(path, 'run'),
  'a policy that a command sends': () => readPolicyDocument(path),
  'a text of a command': () => readFileText(path, 'cases'),
  'arguments of a command': () => readJsonOrFile('--args', `@${path}`),
  "a reviewer's key": () => readKeyFile('--sign', path),
};

describe('a folder in the place of a file is said in one sentence:', () => {
  test.each(Object.entries(readers))('%s', async (_what, read) => {
    const error: Error = await (async () => read())().then(
      () => new Error('read'),
      (cause: Error) => cause,
    );
    expect(error.message).toContain('it is a folder');
    expect(error.message).not.toContain('EISDIR');
  });
});
