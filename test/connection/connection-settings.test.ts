import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connectionSettings } from '../../src/connection/connection-settings.ts';

const kept = { ...process.env };
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-settings-'));
  for (const name of Object.keys(process.env)) if (name.startsWith('TEMPORAL_')) delete process.env[name];
  process.env['TEMPORAL_CONFIG_FILE'] = join(folder, 'none.toml');
});

afterEach(() => {
  rmSync(folder, { recursive: true });
  process.env = { ...kept };
});

describe('connectionSettings', () => {
  test('without settings: the server of `countersign server`', () => {
    expect(connectionSettings()).toEqual({ address: '127.0.0.1:7233', namespace: 'default' });
  });

  test("uses Temporal's environment variables", () => {
    process.env['TEMPORAL_ADDRESS'] = 'env.example:1';
    process.env['TEMPORAL_NAMESPACE'] = 'env';
    process.env['TEMPORAL_API_KEY'] = 'key';
    expect(connectionSettings()).toEqual({ address: 'env.example:1', namespace: 'env', apiKey: 'key', tls: true });
  });

  test('uses the profile file, below the variables', () => {
    process.env['TEMPORAL_CONFIG_FILE'] = join(folder, 'temporal.toml');
    writeFileSync(join(folder, 'temporal.toml'), '[profile.default]\naddress = "file.example:2"\nnamespace = "file"\n');
    process.env['TEMPORAL_NAMESPACE'] = 'env';
    expect(connectionSettings()).toEqual({ address: 'file.example:2', namespace: 'env' });
  });

  test('explicit options override both, and keep the rest', () => {
    process.env['TEMPORAL_ADDRESS'] = 'env.example:1';
    process.env['TEMPORAL_API_KEY'] = 'key';
    expect(connectionSettings({ address: 'own.example:3', namespace: 'own' })).toEqual({
      address: 'own.example:3',
      namespace: 'own',
      apiKey: 'key',
      tls: true,
    });
  });

  test('the default port of an address is 7233', () => {
    expect(connectionSettings({ address: 'own.example' }).address).toBe('own.example:7233');
  });

  test.each(['', '# nothing yet\n'])('a profile file without a profile (%j) changes nothing', (content) => {
    process.env['TEMPORAL_CONFIG_FILE'] = join(folder, 'empty.toml');
    process.env['TEMPORAL_NAMESPACE'] = 'env';
    writeFileSync(join(folder, 'empty.toml'), content);
    expect(connectionSettings()).toEqual({ address: '127.0.0.1:7233', namespace: 'env' });
    process.env['TEMPORAL_PROFILE'] = 'mine';
    expect(() => connectionSettings()).toThrow(/cannot be read/);
  });

  test('an unreadable profile file is reported in one sentence', () => {
    process.env['TEMPORAL_CONFIG_FILE'] = join(folder, 'bad.toml');
    writeFileSync(join(folder, 'bad.toml'), 'profile = [');
    expect(() => connectionSettings()).toThrow(/^Temporal's environment configuration cannot be read: .+$/);
  });
});
