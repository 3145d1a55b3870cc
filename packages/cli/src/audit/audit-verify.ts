import { type Command, InvalidArgumentError } from 'commander';
import type { AuditVerdict } from 'countersign/audit';
import { escapeText } from 'countersign/base';
import { type ClientFlags, withClient, withClientFlags } from '../base/command-line.ts';
import { type Output, processOutput } from '../base/output.ts';
import { createReadStream } from 'node:fs';
import { byteLines, type Line } from '../base/byte-lines.ts';
import { readFault } from '../base/read-text.ts';
import { UsageError } from '../base/report-error.ts';

interface VerifyOptions extends ClientFlags {
  key?: string;
  since?: string;
  live?: boolean;
}

/** `countersign audit verify FILE`: checks an export, without a server unless --live is given. */
export function addAuditVerify(audit: Command): void {
  withClientFlags(audit.command('verify <file>'))
    .description('check an export: that nothing was deleted, moved, edited or cut off, and who signed it')
    .option('--key <public key>', 'the export must be signed with this key: 32 bytes in base64', publicKey)
    .option(
      '--since <file>',
      'an older export: its runs must be the beginnings of these; one that is not here is a note',
    )
    .option('--live', "compare with the server's history, too")
    .action(verifyFile);
}

/** Verifies an export, also against an older one and against the histories on the server if asked for. */
async function verifyFile(file: string, flags: VerifyOptions): Promise<void> {
  const { verifyAudit } = await import('countersign/audit');
  const { key, since, live } = flags;
  const older =
    since === undefined ? undefined : await verifyAudit(auditFile(since), key === undefined ? {} : { publicKey: key });
  if (older?.ok === false) throw new Error(`The older export does not verify: ${firstFinding(older)}`);
  const options = { ...(key !== undefined && { publicKey: key }), ...(older !== undefined && { since: older.heads }) };
  if (live !== true) return report(processOutput(flags), await verifyAudit(auditFile(file), options));
  const { LiveComparison } = await import('countersign/adapter');
  await withClient(flags, async (client, output) => {
    const comparison = new LiveComparison(client.session);
    const verdict = await verifyAudit(auditFile(file), { ...options, onLine: (text) => comparison.take(text) });
    const { findings, notes } = await comparison.end();
    const all = [...verdict.findings, ...findings].sort((one, other) => one.line - other.line);
    report(output, { ...verdict, ok: all.length === 0, findings: all, notes: [...verdict.notes, ...notes] });
  });
}

/** Prints the verdict; a bad one also sets the exit code to 1. */
function report(output: Output, { heads, ...verdict }: AuditVerdict): void {
  if (!verdict.ok) process.exitCode = 1;
  if (!output.forPeople) return output.json({ ...verdict, heads: Object.fromEntries(heads) });
  for (const note of verdict.notes) output.note(escapeText(note));
  const { lines, runs, entries, signedBy, rulings } = verdict;
  for (const [why, count] of Object.entries(rulings.notMade)) {
    output.note(`${count} rulings were not made again: ${escapeText(why)}.`);
  }
  if (verdict.ok) {
    const by = signedBy === undefined ? 'It is not signed.' : `It is signed with the key ${escapeText(signedBy)}.`;
    output.line(
      `${output.style('green', 'The export verifies')}: ${lines} lines, ${runs} runs, ${entries} entries, ${rulings.agreed} rulings made again. ${by}`,
    );
    return;
  }
  output.line(`${output.style('red', 'The export does not verify')}. ${firstFinding(verdict)}`);
  for (const { line, kind, message } of verdict.findings.slice(1, 20)) {
    output.line(`  line ${line}: ${kind}: ${escapeText(message)}`);
  }
}

/** The first finding, in one sentence. */
function firstFinding({ findings: [first] }: Pick<AuditVerdict, 'findings'>): string {
  if (first === undefined) return '';
  const { line, kind, message, workflowId, seq } = first;
  const entry = seq === undefined ? '' : `, entry ${seq}`;
  const run = workflowId === undefined ? '' : ` of run '${escapeText(workflowId)}'`;
  return `Line ${line}${entry}${run}: ${kind}: ${escapeText(message)}.`;
}

function publicKey(text: string): string {
  if (/^[A-Za-z0-9+/]{43}=$/.test(text)) return text;
  throw new InvalidArgumentError('It must be the 32 bytes of an Ed25519 public key in base64.');
}

/** The lines of an export, read one by one. */
export async function* auditFile(file: string): AsyncGenerator<Line> {
  try {
    yield* byteLines(createReadStream(file));
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${readFault(error)}.`);
  }
}
