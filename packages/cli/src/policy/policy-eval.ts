import { createReadStream } from 'node:fs';
import { evaluate, isMode, modes } from 'countersign/policy';
import { byteLines } from '../base/read-text.ts';
import type { DescribedCall } from './described-call.ts';
import { trialsOf, isRisk, parseSubject, parseSums, subjectWanted, sumsWanted } from './described-call.ts';
import { printReceipt, UsageError, MissingArgumentError, type Output } from '../base/output.ts';
import { type Owner, readPolicyDocument, readSoundPolicy, writtenMembers } from './policy-file.ts';
import { type CommonOptions, withClient } from '../base/command-line.ts';
import { namedRun } from '../base/named-run.ts';
import { applyToRuns, type ApplyOptions } from './policy-apply-all.ts';
import { senderOf, signerOf } from '../base/reviewer.ts';
import { risks, isObject, nearestName, type Json, unknownName, readFault } from 'countersign/base';
import { readJson } from 'countersign/json';

export interface EvalOptions extends CommonOptions {
  as: Owner;
  cases: string;
}

/** Prints the policy's ruling on the call in each line of the input. Exit code 1 if a line is unreadable. */
export async function evalPolicy(file: string, { cases, as }: EvalOptions, output: Output): Promise<void> {
  const policy = await readSoundPolicy(file, as, output);
  if (policy === undefined) return;
  const trial = trialsOf(policy, as);
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

/** Changes policy, mode or channels of one run; with --all or --query, of all runs that are found. */
export async function applyPolicy(named: readonly string[], options: ApplyOptions): Promise<void> {
  const { mode, channels, all = false, query, dryRun, yes } = options;
  const isOfMany = all || query !== undefined;
  // With --all or --query, the first word is not a run but the file.
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
    const run = await namedRun(client, workflowId);
    printReceipt(output, await client.setPolicy(run, message, signerOf(options)));
  });
}

/** One line of input. `id` is returned unchanged; null if the line has none. */
type PolicyCase = { id: Json; call: DescribedCall } | { id: Json; error: string };

const known = ['id', 'tool', 'args', 'risk', 'subject', 'agent', 'sums', 'mode'] as const;
/** Facts of a ruling that only a run has. A line with one of them is refused, because it would be ignored. */
const factsOfRun = ['caller', 'metadata', 'counts', 'grants', 'shell'];
/** The members of a line. `written`: the source text of the value, in which `readJson` also finds duplicate keys. */
type Fields = Partial<Record<(typeof known)[number], { value: Json; written: string }>>;

/** Reads a line. Ignores unknown members, such as `expect`. Refuses misspelt names and those in `factsOfRun`. */
export function readCase(line: string): PolicyCase {
  const fields = readFields(line);
  if (typeof fields === 'string') return { id: null, error: fields };
  const id = readJson(fields.id?.written ?? 'null', { root: 'id' });
  if ('problem' in id) return { id: null, error: id.problem };
  const call = readCall(fields);
  return typeof call === 'string' ? { id: id.value, error: call } : { id: id.value, call };
}

/** Returns the call in the fields of a line, or the problem with them. The default risk is that of `defineTool`. */
function readCall(fields: Fields): DescribedCall | string {
  const [tool, risk, subject, agent, sums, mode] = (['tool', 'risk', 'subject', 'agent', 'sums', 'mode'] as const).map(
    (name) => fields[name]?.value,
  );
  if (typeof tool !== 'string') return `'tool' must be a text`;
  if (fields.args === undefined) return `'args' is missing`;
  const args = readJson(fields.args.written, { root: 'args' });
  if ('problem' in args) return args.problem;
  if (!isObject(args.value)) return `'args' must be an object`;
  if (risk !== undefined && !isRisk(risk)) return `'risk' must be one of ${[...risks, 'unknown'].join(', ')}`;
  const parsedSubject = subject === undefined ? undefined : parseSubject(subject);
  if (subject !== undefined && parsedSubject === undefined) return `'subject' must be ${subjectWanted}`;
  if (agent !== undefined && typeof agent !== 'string') return `'agent' must be a text`;
  const parsedSums = sums === undefined ? undefined : parseSums(sums);
  if (sums !== undefined && parsedSums === undefined) return `'sums' must be ${sumsWanted}`;
  if (mode !== undefined && !isMode(mode)) return `'mode' must be one of ${modes.join(', ')}`;
  return { tool, args: args.value, risk: risk ?? 'write', subject: parsedSubject, agent, sums: parsedSums, mode };
}

/** Returns the known fields of a line, or the problem with it, such as a duplicate key or a misspelt name. */
function readFields(line: string): Fields | string {
  let value: Json;
  try {
    value = JSON.parse(line) as Json;
  } catch {
    return line.trim() === '' ? 'the line is empty' : 'the line is not JSON';
  }
  if (!isObject(value)) return 'the line is not an object';
  const fields: Fields = {};
  for (const { key, value: written } of writtenMembers(line)) {
    const name = known.find((each) => each === key);
    if (name === undefined) {
      if (nearestName(key, known) !== undefined || factsOfRun.includes(key)) return unknownName('key', key, known);
      continue;
    }
    if (Object.hasOwn(fields, name)) return `'${name}' appears twice in the line`;
    fields[name] = { value: value[name]!, written };
  }
  return fields;
}
