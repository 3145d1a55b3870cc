import { createReadStream } from 'node:fs';
import { evaluate } from 'countersign/policy';
import { byteLines } from '../base/byte-lines.ts';
import { trialsOf } from './described-call.ts';
import type { Output } from '../base/output.ts';
import { readCase } from './policy-case.ts';
import { readPolicyFile, problemLines, type Owner, readPolicyDocument } from './policy-file.ts';
import { readFault } from '../base/read-text.ts';
import { UsageError, MissingArgumentError } from '../base/report-error.ts';
import { type CommonOptions, withClient } from '../base/command-line.ts';
import { printReceipt } from '../base/print-receipt.ts';
import { applyToRuns, type ApplyOptions } from './policy-apply-all.ts';
import { senderOf, signerOf } from '../base/reviewer.ts';

export interface EvalOptions extends CommonOptions {
  as: Owner;
  cases: string;
}

/**
 * Answers each input line with one output line, in order and immediately, also on a terminal. A line that cannot be
 * read makes the exit code 1.
 */
export async function evalPolicy(file: string, { cases, as }: EvalOptions, output: Output): Promise<void> {
  const loaded = await readPolicyFile(file, as);
  if ('problems' in loaded) {
    output.note(problemLines(file, loaded.problems));
    process.exitCode = 1;
    return;
  }
  const trial = trialsOf(loaded.policy, as);
  let number = 0;
  for await (const line of byteLines(readCases(cases))) {
    number += 1;
    const read = 'problem' in line ? { id: null, error: line.problem } : readCase(line.text);
    if ('error' in read) {
      process.exitCode = 1;
      output.json({ id: read.id, case: number, error: read.error });
      continue;
    }
    const { action, rule, reason = null, severity } = evaluate(...trial(read.call));
    output.json({ id: read.id, case: number, tool: read.call.tool, action, rule, reason, severity });
  }
}

async function* readCases(file: string): AsyncGenerator<Buffer> {
  const stream = file === '-' ? process.stdin : createReadStream(file);
  try {
    for await (const chunk of stream) yield Buffer.from(chunk as Buffer);
  } catch (cause) {
    throw new UsageError(`The cases in ${file} cannot be read: ${readFault(cause)}.`);
  }
}

/** Changes the policy, the mode or the channels of a run; with --all or --query, of all runs found. */
export async function applyPolicy(named: readonly string[], options: ApplyOptions): Promise<void> {
  const { mode, channels, all = false, query, dryRun, yes } = options;
  const isOfMany = all || query !== undefined;
  const [workflowId, file] = isOfMany ? [undefined, ...named] : named;
  if (isOfMany && named.length > 1)
    throw new UsageError('With --all or --query, name a policy file at most, and no run.');
  if (!isOfMany && workflowId === undefined) {
    throw new MissingArgumentError('Say which runs change: a run, --all, or --query QUERY.');
  }
  if (!isOfMany && (dryRun === true || yes === true)) {
    throw new UsageError('--dry-run and --yes are for several runs: add --all or --query QUERY.');
  }
  if (file === undefined && mode === undefined && channels === undefined) {
    throw new UsageError('Say what to apply: a policy file, --mode MODE, --channels NAME, or several of them.');
  }
  const policy = file === undefined ? undefined : await readPolicyDocument(file);
  const message = { policy, mode, channels, ...senderOf(options) };
  await withClient(options, async (client, output) => {
    if (workflowId === undefined) return applyToRuns(client, output, message, options);
    printReceipt(output, await client.setPolicy(workflowId, message, signerOf(options)));
  });
}
