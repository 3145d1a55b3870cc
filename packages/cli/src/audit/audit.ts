import { writeFileSync, createReadStream } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { csvSeparators, otherWithholdable, redacted, plainMembers, type AuditVerdict } from 'countersign/audit';
import type { AuditOptions, CountersignClient } from 'countersign/client';
import { escapeText, readFault } from 'countersign/base';
import { type ClientFlags, withClient, withClientFlags } from '../base/command-line.ts';
import { namedRun } from '../base/named-run.ts';
import { durationOption, refuseMistyped } from '../base/client-options.ts';
import { readKeyFile } from '../base/reviewer.ts';
import { processOutput, MissingArgumentError, UsageError, untilInterrupted, type Output } from '../base/output.ts';
import { byteLines, type Line } from '../base/read-text.ts';

interface ExportOptions extends ClientFlags {
  query?: string;
  follow?: boolean;
  interval: number;
  csv?: boolean;
  separator?: (typeof csvSeparators)[number];
  html?: string;
  sign?: string;
  redact?: boolean;
  withhold: string[];
}

/** Adds the commands that export and verify the record of runs. */
export function addAudit(audit: Command): void {
  refuseMistyped(audit, 'export');
  withClientFlags(audit.command('export [run]', { isDefault: true }))
    .description('export the audit of a run, or of all runs that a query finds, as JSON lines')
    .option('--query <query>', "all runs that this visibility query finds, such as WorkflowType='agentRun'")
    .addOption(new Option('--csv', 'CSV for a spreadsheet, which cannot be verified').conflicts('html'))
    .addOption(
      new Option('--separator <mark>', `with --csv: the separator of cells; default ','`).choices(csvSeparators),
    )
    .option('--html <file>', 'write a report on one run to this file, as one page of HTML')
    .option('--follow', 'go on as the runs do; Ctrl-C completes the export')
    .option('--interval <duration>', 'with --follow: how often to look', durationOption(100), 2_000)
    .option('--sign <key file>', 'sign each line with this Ed25519 key, as `countersign reviewer-key` makes them')
    .option('--redact', `withhold ${redacted.join(', ')}`)
    .option('--withhold <members>', 'withhold these, with commas; the export still verifies', memberList, [])
    .action(exportAudit);
  addAuditVerify(audit);
}

/** Prints the audit as JSON lines or CSV, or writes a report as HTML. With --follow, goes on until Ctrl-C. */
async function exportAudit(run: string | undefined, flags: ExportOptions): Promise<void> {
  const { query, html, csv, separator, follow, interval, sign, redact, withhold } = flags;
  if ((run === undefined) === (query === undefined)) {
    // --json may have taken the run for its value: `parse` in `run-command-line.ts` then tries again.
    const Mistake = query === undefined ? MissingArgumentError : UsageError;
    throw new Mistake('Say what to export: a run, or --query QUERY.');
  }
  if (html !== undefined && (query !== undefined || follow === true)) {
    throw new UsageError('--html reports on one run as it is now: leave out --query and --follow.');
  }
  if (separator !== undefined && csv !== true) throw new UsageError('--separator is for --csv.');
  const stop = new AbortController();
  const options: AuditOptions = {
    withhold: [...new Set([...(redact === true ? redacted : []), ...withhold])],
    ...(sign !== undefined && { privateKey: readKeyFile('--sign', sign) }),
    ...(follow === true && { follow, intervalMs: interval, signal: stop.signal }),
  };
  if (follow === true) void untilInterrupted().then(() => stop.abort());
  await withClient(flags, async (client, output) => {
    const scope = run === undefined ? { query: query! } : { workflowId: await namedRun(client, run) };
    const lines = client.audit(scope, options);
    if (csv === true) return printCsv(lines, separator, output);
    if (html !== undefined) return writeReport(lines, html, output);
    for await (const line of lines) output.json(line);
  });
}

type AuditLines = ReturnType<CountersignClient['audit']>;

async function printCsv(lines: AuditLines, separator: ExportOptions['separator'], output: Output): Promise<void> {
  const { csvRows } = await import('countersign/audit');
  const rows = csvRows(separator);
  // Excel reads a file as UTF-8 only if it begins with the byte order mark.
  output.line(`\uFEFF${rows.header}`);
  for await (const line of lines) for (const row of rows.take(line)) output.line(row);
}

async function writeReport(lines: AuditLines, file: string, output: Output): Promise<void> {
  const { auditReport } = await import('countersign/audit');
  const all = [];
  for await (const line of lines) all.push(line);
  writeFileSync(file, auditReport(all));
  output.note(`The report is in ${file}.`);
}

function memberList(text: string): string[] {
  const names = text.split(',').map((name) => name.trim());
  const plain = names.find((name) => plainMembers.includes(name));
  if (plain !== undefined) throw new InvalidArgumentError(`Every export shows '${plain}'.`);
  if (names.every((name) => /^[A-Za-z]\w*$/.test(name))) return names;
  throw new InvalidArgumentError(`Give names of members, such as ${['reason', ...otherWithholdable].join(',')}.`);
}

interface VerifyOptions extends ClientFlags {
  key?: string;
  since?: string;
  live?: boolean;
}

/** Adds `countersign audit verify FILE`, which checks an export. Only with --live does it need a server. */
function addAuditVerify(audit: Command): void {
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

/** Prints the verdict on an export. --since compares it with the `heads` of an older one, --live with the server. */
async function verifyFile(file: string, flags: VerifyOptions): Promise<void> {
  const { verifyAudit } = await import('countersign/audit');
  const { key, since, live } = flags;
  const withKey = key === undefined ? {} : { publicKey: key };
  const older = since === undefined ? undefined : await verifyAudit(auditFile(since), withKey);
  if (older?.ok === false) throw new Error(`The older export does not verify: ${firstFinding(older)}`);
  const options = { ...withKey, ...(older !== undefined && { since: older.heads }) };
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

/** Prints the verdict, for people with at most 20 findings. Sets exit code 1 if the export does not verify. */
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
    const counts = `${lines} lines, ${runs} runs, ${entries} entries, ${rulings.agreed} rulings made again`;
    return output.line(`${output.style('green', 'The export verifies')}: ${counts}. ${by}`);
  }
  output.line(`${output.style('red', 'The export does not verify')}. ${firstFinding(verdict)}`);
  // The first finding is in the line above, so the list begins with the second.
  for (const { line, kind, message } of verdict.findings.slice(1, 20)) {
    output.line(`  line ${line}: ${kind}: ${escapeText(message)}`);
  }
}

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

async function* auditFile(file: string): AsyncGenerator<Line> {
  try {
    yield* byteLines(createReadStream(file));
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${readFault(error)}.`);
  }
}
