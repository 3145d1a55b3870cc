import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { SealedLine, EntryProof, HeadProof } from 'countersign/audit';
import { escapeText } from 'countersign/base';
import { auditFile } from './audit-file.ts';
import { type CommonOptions, wholeNumber, withCommonOptions } from '../base/command-line.ts';
import { type Output, processOutput } from '../base/output.ts';
import { readFault } from '../base/read-fault.ts';
import { UsageError } from '../base/report-error.ts';

interface ProveOptions extends CommonOptions {
  entry?: number;
  since?: number;
  run?: string;
}

/** `countersign audit prove|check`: a proof for somebody who has only a head, and its check. */
export function addAuditProve(audit: Command): void {
  withCommonOptions(audit.command('prove <file>'))
    .description('make a proof of one entry of an export, or that its head continues an older head')
    .option(
      '--entry <seq>',
      'that the head of the run covers this entry; the proof has no other entry',
      wholeNumber(1, 1e9),
    )
    .option('--since <size>', 'that the head continues the head over so many entries', wholeNumber(1, 1e9))
    .option('--run <workflow id>', 'the run, if the export has several')
    .action(prove);
  withCommonOptions(audit.command('check <file>'))
    .description('check a proof that `countersign audit prove` made, and print its head')
    .action((file: string, options: CommonOptions) => check(processOutput(options), file));
}

async function prove(file: string, { entry, since, run, ...options }: ProveOptions): Promise<void> {
  if ((entry === undefined) === (since === undefined)) throw new UsageError('Say what to prove: --entry or --since.');
  const { provableRun, proveEntry, proveHead, readLine, verifyAudit } = await import('countersign/audit');
  const lines: SealedLine[] = [];
  const onLine = (text: string): void => {
    const read = readLine(text);
    if ('line' in read) lines.push(read.line);
  };
  const { ok } = await verifyAudit(auditFile(file), { onLine });
  if (!ok) throw new Error(`${file} does not verify: see \`countersign audit verify\`.`);
  const found = provableRun(lines, run);
  if (typeof found !== 'object') throw new Error(`No proof can be made: ${found ?? 'the export has no such run'}.`);
  const proof = entry === undefined ? proveHead(found, since!) : proveEntry(found, entry);
  if (proof === undefined) throw new Error(`The run has ${found.leaves.length} entries in this export.`);
  processOutput(options).json(proof);
}

async function check(output: Output, file: string): Promise<void> {
  const { proofProblem } = await import('countersign/audit');
  const value = proofIn(file);
  const problem = proofProblem(value);
  if (problem !== undefined) process.exitCode = 1;
  const proof = value as EntryProof | HeadProof;
  const head = problem === undefined ? (proof.line === 'head proof' ? proof.newer : proof.head) : undefined;
  if (!output.forPeople)
    output.json({ ok: problem === undefined, ...(problem !== undefined ? { problem } : { head }) });
  else if (head === undefined) output.line(`The proof is wrong: ${escapeText(problem ?? '')}.`);
  else
    output.line(
      `The proof is right for the head ${head.root} over ${head.size} entries. Compare it with one that you trust.`,
    );
}

function proofIn(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) throw new UsageError(`${file} is not JSON.`);
    throw new UsageError(`${file} cannot be read: ${readFault(error)}.`);
  }
}
