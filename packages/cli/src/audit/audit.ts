import { writeFileSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { csvSeparators, otherWithholdable, redacted, plainMembers } from 'countersign/audit';
import type { AuditOptions } from 'countersign/client';
import { addAuditVerify } from './audit-verify.ts';
import { type ClientFlags, withClient, withClientFlags } from '../base/command-line.ts';
import { namedRun } from '../base/named-run.ts';
import { durationOption, refuseMistyped } from '../base/client-options.ts';
import { MissingArgumentError, UsageError, untilInterrupted } from '../base/report-error.ts';
import { readKeyFile } from '../base/reviewer.ts';

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

/** `countersign audit export|verify`: the record of runs, and its verification. */
export function addAudit(program: Command): void {
  const audit = program.command('audit').description('export the decisions of runs, and verify an export');
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

async function exportAudit(run: string | undefined, flags: ExportOptions): Promise<void> {
  const { query, html, csv, separator, follow, interval, sign, redact, withhold } = flags;
  if ((run === undefined) === (query === undefined)) {
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
    if (csv === true) {
      const { csvRows } = await import('countersign/audit');
      const rows = csvRows(separator);
      // Excel reads a file as UTF-8 only if it begins with the byte order mark.
      output.line(`\uFEFF${rows.header}`);
      for await (const line of lines) for (const row of rows.take(line)) output.line(row);
    } else if (html === undefined) {
      for await (const line of lines) output.json(line);
    } else {
      const { auditReport } = await import('countersign/audit');
      const all = [];
      for await (const line of lines) all.push(line);
      writeFileSync(html, auditReport(all));
      output.note(`The report is in ${html}.`);
    }
  });
}

function memberList(text: string): string[] {
  const names = text.split(',').map((name) => name.trim());
  const plain = names.find((name) => plainMembers.includes(name));
  if (plain !== undefined) throw new InvalidArgumentError(`Every export shows '${plain}'.`);
  if (names.every((name) => /^[A-Za-z]\w*$/.test(name))) return names;
  throw new InvalidArgumentError(`Give names of members, such as ${['reason', ...otherWithholdable].join(',')}.`);
}
