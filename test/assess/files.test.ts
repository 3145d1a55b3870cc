import { describe, expect, test } from 'vitest';
import { assessBuiltIn } from '../../src/assess/assess.ts';
import type { JsonObject, Risk, Severity } from '../../src/core/base/tool-call.ts';

const severity = (tool: string, args: JsonObject, risk: Risk): Severity | undefined =>
  assessBuiltIn({ tool, args, risk })?.severity;

describe('a path that is read, written and deleted', () => {
  test.each<[string, Severity | undefined, Severity | undefined, Severity | undefined]>([
    ['notes/todo.md', undefined, undefined, 'high'],
    ['a/../b.txt', undefined, undefined, 'high'],
    ['/tmp/x', undefined, undefined, 'high'],
    ['/', undefined, 'medium', 'critical'],
    ['//.', undefined, 'medium', 'critical'],
    ['~', undefined, 'medium', 'critical'],
    ['$HOME/', undefined, 'medium', 'critical'],
    ['C:\\', undefined, 'medium', 'critical'],
    ['.', undefined, 'medium', 'critical'],
    ['./*', undefined, 'medium', 'critical'],
    ['/home/ann', undefined, 'medium', 'critical'],
    ['/etc/hosts', 'low', 'high', 'high'],
    ['/usr/local/../../etc/hosts', 'low', 'high', 'high'],
    ['file:///etc/hosts', 'low', 'high', 'high'],
    ['/ETC/hosts', 'low', 'high', 'high'],
    ['/proc/self/environ', 'low', 'high', 'high'],
    ['C:\\Windows\\System32\\x.dll', 'low', 'high', 'high'],
    ['/etcetera/x', undefined, undefined, 'high'],
    ['/etc/shadow', 'high', 'high', 'high'],
    ['~/.ssh/id_ed25519', 'high', 'high', 'high'],
    ['deploy/server.pem', 'high', 'high', 'high'],
    ['app/.env', 'high', 'high', 'high'],
    ['app/.env.production', 'high', 'high', 'high'],
    ['app/.environment', undefined, undefined, 'high'],
    ['~/.bashrc', 'medium', 'high', 'high'],
    ['/home/ann/.config/x', 'medium', 'high', 'high'],
    ['.git/hooks/pre-commit', 'low', 'high', 'high'],
    ['.github/workflows/ci.yml', 'low', 'high', 'high'],
    ['.github/ISSUE_TEMPLATE.md', undefined, undefined, 'high'],
    ['../other/x', 'medium', 'high', 'high'],
    ['a/../../x', 'medium', 'high', 'high'],
    ['..\\..\\x', 'medium', 'high', 'high'],
    ['%2e%2e/x', 'medium', 'high', 'high'],
    ['~/../ann/x', 'medium', 'high', 'high'],
    ['logs/*.log', undefined, 'medium', 'high'],
    ['app/[id]/page.tsx', undefined, undefined, 'high'],
    ['a\u0000b', 'high', 'high', 'high'],
    ['x'.repeat(5_000), 'high', 'high', 'high'],
  ])('%s: %s, %s, %s', (path, reading, changing, deleting) => {
    expect(severity('read_file', { path }, 'read_only')).toBe(reading);
    expect(severity('write_file', { path }, 'write')).toBe(changing);
    expect(severity('delete_file', { path }, 'write')).toBe(deleting);
  });
});

describe('which arguments are paths', () => {
  test.each<[string, JsonObject, boolean]>([
    ['save', { path: '/etc/x' }, true],
    ['save', { filePath: '/etc/x' }, true],
    ['save', { output_dir: '/etc/x' }, true],
    ['save', { files: ['a', '/etc/x'] }, true],
    ['save', { options: { file: '/etc/x' } }, true],
    ['move_file', { source: 'a', destination: '/etc/x' }, true],
    ['translate', { source: 'a', target: '/etc/x' }, false],
    ['save', { file_content: '/etc/x' }, false],
    ['save', { note: '/etc/x' }, false],
  ])('%s(%j): %s', (tool, args, found) => expect(severity(tool, args, 'write')).toBe(found ? 'high' : undefined));
});

test('deleting files cannot be undone, and the assessment names them', () => {
  expect(assessBuiltIn({ tool: 'rmtree', args: { path: 'build', recursive: true }, risk: 'write' })).toEqual({
    severity: 'high',
    reasons: ['it deletes folders with all they hold'],
    affectedResources: ['file:build'],
    reversible: false,
    recommendations: ['Check that there is a copy of what is deleted.'],
    requiresApproval: true,
  });
});
