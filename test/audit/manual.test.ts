import { createHash, createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import canonicalize from 'canonicalize';
import { plainMembers } from '../../src/core/ledger/commit-entry.ts';
import { otherWithholdable, redacted } from '../../src/audit/entry-line.ts';
import { verified } from './audit-file.ts';

/** The manual for other verifiers: its export verifies, by this verifier and by one that is written from the manual. */

const page = (name: string): string => readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8');
const manual = page('wire');
const lines = /^```jsonl export\n(.*?)^```$/ms.exec(manual)![1]!.trimEnd().split('\n');

/** The words between backquotes in the sentence that begins so. */
function namesAfter(text: string, start: string): string[] {
  const from = text.indexOf(start);
  expect(from).toBeGreaterThan(0);
  const sentence = text.slice(from + start.length).split(/\.\s|;/)[0]!;
  return [...sentence.matchAll(/`(\w+)`/g)].map(([, name]) => name!);
}

test('the export of the manual verifies', async () => {
  expect(await verified(lines)).toMatchObject({ ok: true, notes: [], runs: 1, entries: 2 });
});

type Line = Record<string, unknown> & { line: string; proof: { size: number; root: string; signature: string } };

test('as the manual says, with other libraries', () => {
  const hash = (...parts: (string | Uint8Array)[]) =>
    parts.reduce((sum, part) => sum.update(part), createHash('sha256')).digest();
  const jcs = (value: unknown) => canonicalize(value)!;
  const root = (list: Buffer[]): Buffer => {
    if (list.length === 1) return list[0]!;
    const split = 2 ** (Math.ceil(Math.log2(list.length)) - 1);
    return hash(Buffer.from([1]), root(list.slice(0, split)), root(list.slice(split)));
  };
  const plain = namesAfter(manual, '- `plain` holds these members of the entry:');
  const parsed = lines.map((line) => JSON.parse(line) as Line);
  const [first, run] = parsed as [Line, Line];
  const spki = Buffer.concat([
    Buffer.from('302a300506032b6570032100', 'hex'),
    Buffer.from(first['publicKey'] as string, 'base64'),
  ]);
  const key = createPublicKey({ key: spki, type: 'spki', format: 'der' });
  const chain: Buffer[] = [];
  const entries: Buffer[] = [];
  for (const { proof, ...line } of parsed) {
    chain.push(hash(Buffer.from([0]), jcs(line)));
    expect(proof).toMatchObject({ size: chain.length, root: root(chain).toString('hex') });
    const text = jcs({ action: 'audit', root: proof.root, size: proof.size });
    expect(verify(null, Buffer.from(text), key, Buffer.from(proof.signature, 'base64'))).toBe(true);
    if (line.line !== 'entry') continue;
    const { entry, salts, withheld = {} } = line as unknown as Record<string, Record<string, string>>;
    const salted = Object.entries(entry!).filter(([name]) => !plain.includes(name));
    const hashes = salted.map(([name, value]) => [
      name,
      hash(Buffer.from(salts![name]!, 'hex'), jcs(value)).toString('hex'),
    ]);
    const leaf = {
      plain: Object.fromEntries(Object.entries(entry!).filter(([name]) => plain.includes(name))),
      run: hash(jcs([first['namespace'], run['workflowId'], run['firstRunId']])).toString('hex'),
      salted: { ...Object.fromEntries(hashes), ...withheld },
    };
    entries.push(hash(Buffer.from([0]), jcs(leaf)));
  }
  const head = parsed.find(({ line }) => line === 'head')!;
  expect(head['root']).toBe(root(entries).toString('hex'));
  expect((head['recorded'] as { root: string }).root).toBe(head['root']);
});

test('the pages name all plain members, and what --redact withholds', () => {
  expect(namesAfter(manual, '- `plain` holds these members of the entry:')).toEqual(plainMembers);
  const named = namesAfter(page('audit'), '`--redact` withholds');
  expect([...named, ...otherWithholdable]).toEqual(redacted);
});
