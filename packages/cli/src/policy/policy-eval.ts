import { createReadStream } from 'node:fs';
import { evaluate } from 'countersign/policy';
import { byteLines } from '../base/byte-lines.ts';
import { trialsOf } from './described-call.ts';
import type { Output } from '../base/output.ts';
import { readCase } from './policy-case.ts';
import { readPolicyFile, problemLines } from './policy-file.ts';
import { readFault } from '../base/read-fault.ts';
import { UsageError } from '../base/report-error.ts';
import type { CommonOptions } from '../base/command-line.ts';
import type { Owner } from './policy-file.ts';

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
