import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type RunInTest, type World, openWorld } from '../../support/world.ts';
import { cli, jsonLines, startCli } from './support.ts';

const folder = mkdtempSync(join(tmpdir(), 'countersign-audit-'));
const linesIn = (stdout: string) => jsonLines({ code: 0, stdout, stderr: '' });
const file = (name: string): string => join(folder, name);
let world: World;
let run: RunInTest;
let publicKey: string;
beforeAll(async () => {
  world = await openWorld({ policy: { version: 1, rules: [{ pattern: 'pay', action: 'ask', reason: 'Money' }] } });
  const calls = [{ tool: 'pay', args: { to: 'ann', amount: 1 } }];
  run = await world.start([{ calls }, { calls }, { text: 'done' }]);
  for (const approved of [true, false]) {
    const [request] = await run.open();
    await world.client.decide({ requestId: request!.requestId, approved, reviewerId: 'rita', reason: 'I checked it' });
  }
  await run.result();
  const made = await cli(['reviewer-key', '--out', file('operator.pem')]);
  ({ publicKey } = jsonLines(made)[0] as { publicKey: string });
});
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true });
});

async function exportTo(name: string, ...words: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await cli(['audit', run.workflowId, ...words]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  writeFileSync(file(name), stdout);
  return stdout.trimEnd().split('\n');
}

test('export, verify, tamper, verify', async () => {
  const lines = await exportTo('signed.jsonl', '--sign', file('operator.pem'));
  const ok = await cli(['audit', 'verify', file('signed.jsonl'), '--key', publicKey]);
  expect(ok.code).toBe(0);
  expect(jsonLines(ok)).toMatchObject([{ ok: true, runs: 1, entries: 5, signedBy: publicKey, findings: [] }]);

  const index = lines.findIndex((line) => line.includes('"outcome":"denied"'));
  writeFileSync(file('edited.jsonl'), lines.with(index, lines[index]!.replace('denied', 'approved')).join('\n'));
  const { code, stdout } = await cli(['audit', 'verify', file('edited.jsonl'), '--key', publicKey]);
  expect(code).toBe(1);
  const [verdict] = linesIn(stdout);
  expect(verdict).toMatchObject({
    ok: false,
    findings: expect.arrayContaining([expect.objectContaining({ kind: 'edited', line: index + 1, seq: 5 })]),
  });
  expect((verdict as { findings: object[] }).findings[0]).toMatchObject({ kind: 'edited', line: index + 1 });
});

test('--live compares with the server, --since with an older export', async () => {
  await exportTo('now.jsonl');
  const { code, stdout } = await cli(['audit', 'verify', file('now.jsonl'), '--live', '--since', file('now.jsonl')]);
  expect({ code, verdict: linesIn(stdout)[0] }).toMatchObject({ code: 0, verdict: { ok: true, notes: [] } });
});

test('--redact and --withhold', async () => {
  const lines = await exportTo('redacted.jsonl', '--redact', '--withhold', 'agent');
  expect(lines.join()).not.toMatch(/rita|I checked it|Money|tester/);
  const { stdout } = await cli(['audit', 'verify', file('redacted.jsonl')]);
  expect(linesIn(stdout)).toMatchObject([{ ok: true, entries: 5 }]);
});

test('--csv and --html', async () => {
  for (const [separator, ...flags] of [[','], [';', '--separator', ';']]) {
    const rows = await exportTo('audit.csv', '--csv', ...flags);
    // Excel reads only a file with the byte order mark as UTF-8.
    expect(rows[0]!.split(separator!).slice(0, 4)).toEqual(['\uFEFFworkflowId', 'seq', 'at', 'kind']);
    expect(rows).toHaveLength(6);
  }
  const { code, stderr } = await cli(['audit', run.workflowId, '--html', file('report.html')]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: `The report is in ${file('report.html')}.\n` });
  expect(readFileSync(file('report.html'), 'utf8')).toMatch(/^<!doctype html>[\s\S]*rita \(claimed\) approved/);
});

test('--follow ends with Ctrl-C, and what it wrote verifies', async () => {
  const calls = [{ tool: 'pay', args: { to: 'bob', amount: 2 } }];
  const waiting = await world.start([{ calls }, { text: 'done' }]);
  await waiting.open();
  const following = startCli(['audit', waiting.workflowId, '--follow', '--interval', '100ms']);
  await following.shows('"line":"entry"');
  following.child.kill('SIGINT');
  const { code, stdout } = await following.ended;
  writeFileSync(file('followed.jsonl'), stdout);
  const verdict = await cli(['audit', 'verify', file('followed.jsonl')]);
  expect({ code, verdict: jsonLines(verdict)[0] }).toMatchObject({ code: 0, verdict: { ok: true, entries: 1 } });
});

test('--query exports all runs that it finds', async () => {
  const query = `WorkflowId='${run.workflowId}'`;
  const { stdout } = await eventually('the run is in visibility', async () => {
    const found = await cli(['audit', '--query', query]);
    return found.stdout.includes('"line":"run"') && found;
  });
  expect(linesIn(stdout).filter((line) => line['line'] === 'entry')).toHaveLength(5);
});

test.each([
  [['audit'], 'Say what to export: a run, or --query QUERY.'],
  [['audit', 'run-1', '--query', 'x'], 'Say what to export'],
  [['audit', '--query', 'x', '--html', 'f'], '--html reports on one run as it is now'],
  [['audit', 'run-1', '--separator', ';'], '--separator is for --csv.'],
  [['audit', 'run-1', '--csv', '--separator', '='], 'Allowed choices are ,, ;.'],
  [['audit', 'run-1', '--withhold', 'outcome'], `Every export shows 'outcome'.`],
  [['audit', 'run-1', '--withhold', 'a b'], 'Give names of members'],
  [['audit', 'verify', 'none.jsonl'], 'none.jsonl cannot be read: there is no such file.'],
  [['audit', 'verify', 'none.jsonl', '--key', 'abc'], 'It must be the 32 bytes of an Ed25519 public key in base64.'],
])('%j is a usage error', async (words, sentence) => {
  const { code, stderr } = await cli(words);
  expect(code).toBe(2);
  expect(stderr).toContain(sentence);
});
