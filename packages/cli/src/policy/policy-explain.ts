import { escapeText, formatDuration, type JsonObject, type Risk } from 'countersign/base';
import { readJson } from 'countersign/json';
import { advisorsOf, explain, type Explanation, type Mode } from 'countersign/policy';
import type { Subject, Sums } from './described-call.ts';
import { parseSubject, parseSums, subjectWanted, sumsWanted, trialsOf } from './described-call.ts';
import { UsageError, type Output } from '../base/output.ts';
import { type Owner, readSoundPolicy } from './policy-file.ts';
import { renderFields, renderTable } from '../base/table.ts';
import type { CommonOptions } from '../base/command-line.ts';

export interface ExplainOptions extends CommonOptions {
  as: Owner;
  tool: string;
  args: string;
  risk: Risk;
  subject?: string;
  agent?: string;
  sums?: string;
  mode?: Mode;
}

/** Explains how a policy rules on a call. Sets exit code 1 only for a policy that does not load. */
export async function explainPolicy(file: string, options: ExplainOptions, output: Output): Promise<void> {
  const { tool, risk, agent, mode } = options;
  const args = readArguments(options.args);
  const subject = options.subject === undefined ? undefined : readSubjectOption(options.subject);
  const sums = options.sums === undefined ? undefined : readSumsOption(options.sums);
  const policy = await readSoundPolicy(file, options.as, output);
  if (policy === undefined) return;
  const explanation = explain(...trialsOf(policy, options.as)({ tool, args, risk, subject, agent, sums, mode }));
  output.result(renderExplanation(output, explanation), printable(explanation));
}

/** Returns what `--json` prints of an explanation. */
function printable({ ruling, matches }: Explanation): object {
  const { action, rule, reason = null, severity, layer } = ruling;
  return {
    action,
    rule,
    reason,
    severity,
    layer,
    // An advisor is consulted before reviewers are asked, and may change the answer.
    advisors: advisorsOf(ruling).map(({ name, timeoutMs }) => ({ name, timeoutMs })),
    // A rule that cannot be evaluated did not match; its `why` gives the reason.
    matches: matches.map(({ rule, action, matched, why }) => ({ rule, action, matched: matched === true, why })),
  };
}

function renderExplanation(output: Output, { ruling, matches }: Explanation): string {
  const { action, rule, reason, severity, layer, mode } = ruling;
  const colours = { allow: 'green', ask: 'yellow', deny: 'red' } as const;
  const noRule = mode === undefined ? 'none: a risk default decides' : `none: mode ${mode} decides`;
  const advisors = advisorsOf(ruling).map(
    ({ name, timeoutMs }) => `${escapeText(name)} (${formatDuration(timeoutMs)})`,
  );
  const fields = renderFields(output, [
    ['answer', output.style(colours[action], action)],
    ['rule', rule === null ? noRule : `${escapeText(rule)} (${layer})`],
    ['reason', reason === undefined ? undefined : escapeText(reason)],
    ['severity', severity],
    ['advisors', advisors.length === 0 ? undefined : advisors.join(', ')],
  ]);
  if (matches.length === 0) return fields;
  const rows = matches.map((match) => [
    escapeText(match.rule),
    match.action,
    match.matched === 'error' ? 'error' : match.matched ? 'yes' : 'no',
    escapeText(match.why),
  ]);
  return `${fields}\n\n${renderTable(output, ['RULE', 'ACTION', 'MATCHED', 'WHY'], rows, { whole: ['RULE'], wrapped: ['WHY'] })}`;
}

function readArguments(text: string): JsonObject {
  const read = readJson(text, { root: '--args' });
  if ('problem' in read) throw new UsageError(`${read.problem}; give the arguments of the call as JSON.`);
  const { value } = read;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new UsageError(`--args must be an object, such as '{"path":"a.txt"}'.`);
}

/** Reads the option `--subject`: an argument's name, or JSON if it starts with a brace. */
function readSubjectOption(text: string): Subject {
  if (!text.startsWith('{')) return { argument: text, shell: false };
  const read = readJson(text, { root: '--subject' });
  const subject = 'problem' in read ? undefined : parseSubject(read.value);
  if (subject === undefined) throw new UsageError(`--subject must be ${subjectWanted}.`);
  return subject;
}

function readSumsOption(text: string): Sums {
  const read = readJson(text, { root: '--sums' });
  const sums = 'problem' in read ? undefined : parseSums(read.value);
  if (sums === undefined) throw new UsageError(`--sums must be ${sumsWanted}.`);
  return sums;
}
