import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import type { FindingKind } from '../../src/audit/finding.ts';
import { redacted } from '../../src/audit/entry-line.ts';
import { readLine } from '../../src/audit/read-line.ts';
import { edited, lineOf, resealed, verified } from './audit-file.ts';
import { sampleExport, signingKey } from './audit-sample.ts';

/** Whatever is done to an export, the verifier finds it and names the first place. */

const operator = signingKey();
const { publicKey } = operator;
const intact = sampleExport(operator);
const unsigned = sampleExport();
const stranger = signingKey();

const at = (seq: number, run = 1): number => lineOf(intact, seq, run);
const head = intact.findIndex((text) => text.includes('"line":"head"'));
const evidence = intact.findIndex((text) => text.includes('"line":"evidence"'));

interface Found {
  kind: FindingKind;
  /** From 1. */
  line: number;
  seq?: number;
}

interface Tampering {
  name: string;
  tamper: (lines: string[]) => string[];
  /** What is found first. */
  found: Found;
  /** What is found in an unsigned export after all hashes were made anew; null: nothing, only a signature helps. */
  remade: Found | null;
}

type Edited = {
  run: number;
  root: string;
  entry: Record<string, unknown>;
  salts: Record<string, string>;
  context: { eventId: number };
  value: { rules: unknown[] };
};

const edit = (index: number, change: (line: Edited) => void) => (lines: string[]) => edited(lines, index, change);
const replace = (index: number, from: string, to: string) => (lines: string[]) =>
  lines.with(index, lines[index]!.replace(from, to));

/** `at` is an index, and so the number of the line before. */
const tamperings: Tampering[] = [
  {
    name: 'the first entry is deleted',
    tamper: (lines) => lines.toSpliced(at(1), 1),
    found: { kind: 'deleted', line: at(1) + 1, seq: 1 },
    remade: { kind: 'deleted', line: at(1) + 1, seq: 1 },
  },
  {
    name: 'a middle entry is deleted',
    tamper: (lines) => lines.toSpliced(at(3), 1),
    found: { kind: 'deleted', line: at(3) + 1, seq: 3 },
    remade: { kind: 'deleted', line: at(3) + 1, seq: 3 },
  },
  {
    name: 'the last entry is deleted',
    tamper: (lines) => lines.toSpliced(at(6), 1),
    found: { kind: 'deleted', line: at(6) + 1 },
    remade: { kind: 'deleted', line: head, seq: 6 },
  },
  {
    name: 'two entries are swapped',
    tamper: (lines) => lines.with(at(2), lines[at(3)]!).with(at(3), lines[at(2)]!),
    found: { kind: 'reordered', line: at(2) + 1, seq: 2 },
    remade: { kind: 'reordered', line: at(2) + 1, seq: 2 },
  },
  {
    name: 'an entry is repeated',
    tamper: (lines) => lines.toSpliced(at(4), 0, lines[at(3)]!),
    found: { kind: 'repeated', line: at(4) + 1, seq: 3 },
    remade: { kind: 'repeated', line: at(4) + 1, seq: 3 },
  },
  {
    name: 'a plain member is edited',
    tamper: edit(at(3), ({ entry }) => (entry['outcome'] = 'denied')),
    found: { kind: 'edited', line: at(3) + 1, seq: 3 },
    remade: { kind: 'head', line: head + 1, seq: 1 },
  },
  {
    name: 'a salted value is edited',
    tamper: edit(at(2), ({ entry }) => (entry['reviewerId'] = 'mallory')),
    found: { kind: 'edited', line: at(2) + 1, seq: 2 },
    remade: { kind: 'head', line: head + 1, seq: 1 },
  },
  {
    name: 'a salt is edited',
    tamper: edit(at(2), ({ salts }) => (salts['reviewerId'] = '0'.repeat(32))),
    found: { kind: 'edited', line: at(2) + 1, seq: 2 },
    remade: { kind: 'head', line: head + 1, seq: 1 },
  },
  {
    name: 'a value is removed, as if it had never been there',
    tamper: edit(at(2), ({ entry, salts }) => {
      delete entry['reviewerId'];
      delete salts['reviewerId'];
    }),
    found: { kind: 'edited', line: at(2) + 1, seq: 2 },
    remade: { kind: 'head', line: head + 1, seq: 1 },
  },
  {
    name: 'the tail is cut off',
    tamper: (lines) => lines.slice(0, at(4, 2) + 1),
    found: { kind: 'cut off', line: at(4, 2) + 2 },
    remade: { kind: 'cut off', line: at(4, 2) + 2 },
  },
  {
    name: 'the head is replaced',
    tamper: edit(head, (line) => (line.root = '0'.repeat(64))),
    found: { kind: 'edited', line: head + 1 },
    remade: { kind: 'head', line: head + 1 },
  },
  {
    name: 'an entry of another run takes the place of one',
    tamper: (lines) => lines.with(at(3), lines[at(3, 2)]!),
    found: { kind: 'deleted', line: at(3) + 1 },
    remade: { kind: 'deleted', line: at(3) + 1 },
  },
  {
    name: 'an entry of another run is made to fit',
    tamper: (lines) => edited(lines.with(at(3), lines[at(3, 2)]!), at(3), (line: Edited) => (line.run = 1)),
    found: { kind: 'foreign', line: at(3) + 1, seq: 3 },
    remade: { kind: 'foreign', line: at(3) + 1, seq: 3 },
  },
  {
    name: 'an entry of another run is made to fit and renamed',
    tamper: (lines) =>
      replace(
        at(3),
        '"bert"',
        '"alice"',
      )(edited(lines.with(at(3), lines[at(3, 2)]!), at(3), (line: Edited) => (line.run = 1))),
    found: { kind: 'deleted', line: at(3) + 1 },
    remade: { kind: 'head', line: head + 1, seq: 1 },
  },
  {
    name: 'a recorded policy is edited',
    tamper: edit(evidence, ({ value }) => value.rules.push(1)),
    found: { kind: 'edited', line: evidence + 1 },
    remade: null,
  },
  {
    name: 'the context of an entry is edited',
    tamper: edit(at(3), ({ context }) => (context.eventId = 1)),
    found: { kind: 'edited', line: at(3) + 1, seq: 3 },
    remade: null,
  },
  {
    name: 'a run claims to have committed itself to nothing',
    tamper: (lines) => lines.map((text) => text.replace('"committed":true', '"committed":false')),
    found: { kind: 'edited', line: 2 },
    remade: { kind: 'edited', line: at(1) + 1, seq: 1 },
  },
  {
    name: 'a run takes the name of another workflow',
    tamper: (lines) => lines.map((text) => text.replace('"workflowId":"alice"', '"workflowId":"anna"')),
    found: { kind: 'edited', line: 2 },
    remade: { kind: 'head', line: head + 1, seq: 1 },
  },
  {
    name: 'a line is no JSON',
    tamper: (lines) => lines.with(at(3), '{'),
    found: { kind: 'unreadable', line: at(3) + 1 },
    remade: { kind: 'unreadable', line: at(3) + 1 },
  },
  {
    name: 'a member is there twice',
    tamper: replace(at(3), '"outcome":"approved"', '"outcome":"denied","outcome":"approved"'),
    found: { kind: 'unreadable', line: at(3) + 1 },
    remade: { kind: 'unreadable', line: at(3) + 1 },
  },
  {
    name: 'a line follows the end',
    tamper: (lines) => [...lines, lines[at(3)]!],
    found: { kind: 'foreign', line: intact.length + 1 },
    remade: { kind: 'foreign', line: intact.length + 1 },
  },
];

describe('an export that nobody touched', () => {
  const whole = { ok: true, findings: [], notes: [], lines: intact.length, runs: 2, entries: 12 };

  test('verifies, signed or not', async () => {
    expect(await verified(intact, { publicKey })).toMatchObject({ ...whole, signedBy: publicKey });
    expect(await verified(intact)).toMatchObject({ ...whole, signedBy: publicKey });
    expect(await verified(unsigned)).toMatchObject(whole);
  });

  test('verifies with values withheld', async () => {
    const withheld = sampleExport({ ...operator, withheld: redacted });
    expect(withheld.join()).not.toMatch(/ann|bob|pays/);
    expect(await verified(withheld, { publicKey })).toMatchObject(whole);
  });

  test('verifies however its JSON is written', async () => {
    const other = intact.map((text) => JSON.stringify(sorted(JSON.parse(text)), undefined, 1).replaceAll('\n', ' '));
    expect(await verified(other, { publicKey })).toMatchObject(whole);
  });
});

describe.each(tamperings)('$name', ({ tamper, found, remade }) => {
  test('is found and placed', async () => {
    const { ok, findings } = await verified(tamper(intact), { publicKey });
    expect({ ok, first: findings[0] }).toMatchObject({ ok: false, first: found });
    expect((await verified(tamper(unsigned))).findings[0]).toMatchObject(found);
  });

  test('is found and placed by the signatures, if all hashes are made anew', async () => {
    const tampered = tamper(intact);
    const firstChanged = tampered.findIndex((text, index) => text !== intact[index]) + 1;
    for (const sign of [undefined, stranger.sign]) {
      const [first] = (await verified(resealed(tampered, sign), { publicKey })).findings;
      expect(first?.line).toBe(firstChanged === 0 ? tampered.length + 1 : firstChanged);
    }
  });

  test("is found by the run's own head, if all hashes are made anew and nothing is signed", async () => {
    const { findings } = await verified(resealed(tamper(unsigned)));
    expect(findings[0]).toEqual(remade === null ? undefined : expect.objectContaining(remade));
  });
});

describe('signatures', () => {
  test('of another key', async () => {
    const first = { kind: 'signature', line: 1 };
    const other = sampleExport(stranger);
    expect((await verified(other, { publicKey })).findings[0]).toMatchObject(first);
    expect(await verified(other)).toMatchObject({ ok: true, signedBy: stranger.publicKey });
    // Signed by a stranger, in the operator's name.
    const inName = sampleExport({ publicKey, sign: stranger.sign });
    expect((await verified(inName)).findings[0]).toMatchObject(first);
  });

  test('that are missing', async () => {
    expect((await verified(unsigned, { publicKey })).findings[0]).toMatchObject({ kind: 'signature', line: 1 });
    const bare = intact.map((text) => text.replace(/,"signature":"[^"]*"/, ''));
    expect((await verified(bare)).findings[0]).toMatchObject({ kind: 'signature', line: 1 });
  });

  test.each(['', '!', 'AAAA', Buffer.alloc(32).toString('base64')])('by the unusable key %j', async (bad) => {
    const { ok, findings } = await verified(sampleExport({ publicKey: bad, sign: stranger.sign }));
    expect({ ok, kind: findings[0]?.kind }).toEqual({ ok: false, kind: 'signature' });
  });
});

describe('an older export', () => {
  test('is a prefix of the newer one, or what differs is found', async () => {
    const { heads } = await verified(sampleExport({ entries: 4 }));
    expect(await verified(intact, { since: heads })).toMatchObject({ ok: true });
    const changed = new Map([...heads].map(([key, { size }]) => [key, { size, root: '0'.repeat(64) }]));
    const [first] = (await verified(intact, { since: changed })).findings;
    expect(first).toMatchObject({ kind: 'head', line: at(4) + 1, workflowId: 'alice' });
  });

  test('has the head of a run that now says it wrote none', async () => {
    const { heads } = await verified(sampleExport({ entries: 4 }));
    const forged = unsigned.map((text) => {
      const line = JSON.parse(text) as Record<string, unknown>;
      if (line['line'] === 'run') return JSON.stringify({ ...line, committed: false });
      const { salts: _, recorded: __, ...rest } = line;
      return JSON.stringify(rest);
    });
    const [first] = (await verified(resealed(forged), { since: heads })).findings;
    expect(first).toMatchObject({ kind: 'head', message: expect.stringContaining('says that it has none') });
  });

  test('has entries in the place of which the newer one has a gap', async () => {
    const { heads } = await verified(unsigned);
    const gap = { line: 'gap', run: 1, first: 1, last: 2, why: 'missing' };
    const isFirst = (line: Record<string, unknown>, seq: number) =>
      line['line'] === 'entry' && line['run'] === 1 && (line['entry'] as { seq: number }).seq === seq;
    const forged = unsigned.flatMap((text) => {
      const line = JSON.parse(text) as Record<string, unknown>;
      if (isFirst(line, 2)) return [];
      return isFirst(line, 1) ? [JSON.stringify({ ...gap, proof: line['proof'] })] : [text];
    });
    const [first] = (await verified(resealed(forged), { since: heads })).findings;
    const message = 'entries 1 to 2 are missing, and the older export has them';
    expect(first).toMatchObject({ kind: 'deleted', seq: 1, message });
  });

  test('has a run that is not in the newer one: a note', async () => {
    const { heads } = await verified(intact);
    const [head] = heads.values();
    const since = new Map([...heads, ['0 gone run', head!]]);
    const { ok, notes } = await verified(intact, { since });
    expect({ ok, notes }).toEqual({
      ok: true,
      notes: expect.arrayContaining(["run 'gone run' of the older export is not in this one"]),
    });
  });

  test('has more entries than the newer one', async () => {
    const { heads } = await verified(intact);
    const [first] = (await verified(sampleExport({ entries: 4 }), { since: heads })).findings;
    expect(first).toMatchObject({ kind: 'deleted', seq: 5, workflowId: 'alice' });
  });
});

test('no line makes the verifier throw', async () => {
  const index = fc.nat(intact.length - 1);
  await fc.assert(
    fc.asyncProperty(index, fc.jsonValue(), fc.string(), async (at, value, member) => {
      const line = JSON.parse(intact[at]!) as Record<string, unknown>;
      const name = Object.keys(line)[member.length % Object.keys(line).length]!;
      const { ok } = await verified(intact.with(at, JSON.stringify({ ...line, [name]: value })));
      expect(ok).toBe(JSON.stringify(line[name]) === JSON.stringify(value));
      expect((await verified(intact.with(at, member))).ok).toBe(false);
    }),
  );
});

test('an entry that says nothing of its place in history is not read', async () => {
  const without = edited(intact, 2, (line: { context?: unknown }) => delete line.context);
  expect(readLine(without[2]!)).toEqual({ problem: "'context' is missing or has another form" });
});

test('says what was done, in one sentence', async () => {
  const { findings } = await verified(tamperings[1]!.tamper(intact), { publicKey });
  expect(findings[0]?.message).toBe('entry 3 is missing before entry 4');
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? 1 : -1));
  return Object.fromEntries(members.map(([name, member]) => [name, sorted(member)]));
}
