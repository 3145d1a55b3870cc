import { buffer } from 'node:stream/consumers';
import stringWidth from 'string-width';
import { escapeJson, type Json, type JsonObject, terminalClock, risks, isObject } from 'countersign/base';
import type { Card, CardOptions, CardRequest } from 'countersign/card';
import {
  cardDigest,
  cardOf,
  renderHtmlPage,
  renderMarkdown,
  renderSlack,
  renderTerminal,
  hideInRequest,
  redactInRequest,
  shownPreview,
} from 'countersign/card';
import type { Policy, FindOptions, Redaction } from 'countersign/policy';
import {
  limitsOf,
  redactionSettings,
  redactText,
  findOwn,
  redactionOf,
  describeIssues,
  defaultAssessment,
  defaultTimeoutMs,
  parsePolicy,
  evaluate,
  isAsked,
} from 'countersign/policy';
import { isSafeNumber, parse } from 'lossless-json';
import { definitionDigest, callDigest, readChanges, readJson, parseJson } from 'countersign/json';
import type { CallPreview } from 'countersign/client';
import { UsageError, type Output } from '../base/output.ts';
import { readSoundPolicy, writtenMembers } from '../policy/policy-file.ts';
import type { CommonOptions } from '../base/command-line.ts';
import { isRisk, parseSubject, subjectWanted, trialsOf } from '../policy/described-call.ts';

export interface PreviewOptions extends CommonOptions {
  channel: 'terminal' | 'markdown' | 'html' | 'slack' | 'text';
  all?: boolean;
  policy?: string;
}

/** Reads a call from standard input, and prints its card as the channel would show it to a reviewer. */
export async function previewCard({ channel, all, policy: file, json }: PreviewOptions, output: Output): Promise<void> {
  const policy = file === undefined ? undefined : await readSoundPolicy(file, 'run', output);
  if (file !== undefined && policy === undefined) return; // the problems of the policy are printed
  const call = await previewRequest(await readInput(), Date.now(), policy);
  const { request, options } = asShown(call, policy);
  const card = cardOf(request, { ...options, all });
  if (json !== undefined) output.json({ ...card, digest: cardDigest(card) });
  else output.line(renderForChannel(card, channel, all === true, output));
}

/** Renders a card as its channel shows it. `all`: with the raw call, which a terminal shows only on demand. */
function renderForChannel(card: Card, channel: PreviewOptions['channel'], all: boolean, output: Output): string {
  switch (channel) {
    case 'terminal':
      return renderTerminal(card, {
        width: output.width,
        style: (style, text) => output.style(style, text),
        columnsOf: stringWidth,
        seeAll: '--all shows it',
        raw: all,
        clock: terminalClock(Date.now()),
      });
    case 'markdown':
      return renderMarkdown(card);
    case 'html':
      return renderHtmlPage(card);
    case 'slack':
      return escapeJson({ messages: renderSlack(card) } as unknown as Json, 2);
    case 'text':
      return renderTerminal(card, { raw: true });
  }
}

async function readInput(): Promise<string> {
  const bytes = await buffer(process.stdin);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError('Standard input is not JSON in UTF-8: give it one JSON object { tool, args }.');
  }
}

/** Returns the call as the policy shows it to a reviewer: with placeholders for redacted values, or no arguments. */
function asShown({ request, options, command }: PreviewedCall, policy: Policy | undefined): PreviewedCall {
  const layers = policy === undefined ? {} : { run: policy };
  if (!limitsOf(layers).includeArguments) {
    const { written: _, ...others } = options; // `written` quotes the arguments
    return { request: { ...hideInRequest(request), preview: undefined }, options: others };
  }
  const settings = redactionSettings(layers);
  if (settings === undefined) return { request, options };
  const findMore = findOwn(settings.patterns);
  const redactedText = (text: string): string => redactText(text, settings.kinds, findMore);
  const { written } = options;
  const redactedOptions = { ...options, ...(written !== undefined && { written: redactedText(written) }) };
  const redaction = redactionIn(request.arguments, { settings, findMore, command });
  // A run refuses arguments that are too deep to be searched, so only the redacted text is shown of them.
  if (redaction === undefined) return { request: { ...request, arguments: {} }, options: redactedOptions };
  const shown = redactInRequest({ ...request, contextSummary: redactedText(request.contextSummary) }, redaction);
  const preview = shownPreview({ request, redaction }, request.preview);
  return { request: { ...shown, preview }, options: redactedOptions };
}

/** Finds values to redact; undefined if the arguments are nested too deeply to be searched. */
function redactionIn(args: JsonObject, options: FindOptions): Redaction | undefined {
  try {
    return redactionOf(args, options);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The request that a run would open for a call, and the options of its card, with warnings about the input. */
interface PreviewedCall {
  request: CardRequest;
  options: CardOptions;
  /** The name of the argument with a shell command. Absent without one. */
  command?: string;
}

/** Reads a call. Leaves out a member of a wrong type, with a warning. Throws a usage error only if it is not JSON. */
export async function previewRequest(text: string, nowMs: number, policy?: Policy): Promise<PreviewedCall> {
  const value = parseInput(text);
  const input = isObject(value) ? value : {};
  const warnings: string[] = [];
  const readMember = <Kind extends Json>(name: string, isKind: (given: Json) => given is Kind, wanted: string) => {
    const given = Object.hasOwn(input, name) ? input[name] : undefined;
    if (given === undefined || isKind(given)) return given;
    warnings.push(`'${name}' is left out: it is not ${wanted}.`);
    return undefined;
  };
  if (!isObject(value)) warnings.push('The input is not an object { tool, args }: see the raw call.');
  const tool = readMember('tool', isText, 'a text') ?? '';
  if (tool === '') warnings.push('The input names no tool.');
  const schema = readMember('schema', (given): given is JsonObject => isObject(given), 'an object') ?? {};
  const risk = readMember('risk', isRisk, `one of ${[...risks, 'unknown'].join(', ')}`) ?? 'write';
  const args = await readArguments(text, input, schema);
  warnings.push(...args.warnings);
  const subject = parseSubject(input['subject'] ?? null);
  if (subject === undefined && input['subject'] !== undefined) {
    warnings.push(`'subject' is left out: it is not ${subjectWanted}.`);
  }
  const preview = readPreview(input['preview']);
  if ('problem' in preview) warnings.push(`'preview' is left out: ${preview.problem}.`);
  const sentence = readMember('sentence', isText, 'a text');
  const agent = readMember('agent', isText, 'a text') ?? 'preview';
  const context = readMember('context', isText, 'a text') ?? '';
  const request: CardRequest = {
    requestId: '0'.repeat(32),
    workflowId: 'preview',
    toolName: tool,
    ...(sentence !== undefined && { sentence }),
    arguments: args.value,
    riskLevel: risk,
    ...ruledOn({ tool, args: args.value, risk, subject, agent }, policy),
    agentName: agent,
    callerUserId: null,
    contextSummary: context,
    requestedAt: new Date(nowMs).toISOString(),
    deadline: new Date(nowMs + defaultTimeoutMs).toISOString(),
    digest: digestOf(tool, args.value, schema),
    lineage: [],
    metadata: {},
    reviewers: [],
    shown: 'all',
    schema,
    ...('preview' in preview && { preview: preview.preview }),
  };
  return {
    request,
    options: { nowMs, warnings, ...(args.written !== undefined && { written: args.written }) },
    command: subject?.shell === true ? subject.argument : undefined,
  };
}

function parseInput(text: string): Json {
  try {
    return parseJson(text) as Json;
  } catch {
    throw new UsageError(
      text.trim() === ''
        ? 'Standard input is empty: give it one JSON object { tool, args }.'
        : 'Standard input is not JSON: give it one JSON object { tool, args }.',
    );
  }
}

interface ReadArguments {
  value: JsonObject;
  warnings: string[];
  /** The whole call as written, if `value` does not represent all of it. */
  written?: string;
}

/** Reads the member `args`, with a warning for each reason why a run would refuse such arguments. */
async function readArguments(text: string, input: JsonObject, schema: JsonObject): Promise<ReadArguments> {
  const refused = (problem: string) => `A run would refuse these arguments: ${problem}.`;
  if (!Object.hasOwn(input, 'args')) {
    return { value: {}, warnings: [refused("'args' is missing")], written: text.trim() };
  }
  const value = input['args']!;
  if (!isObject(value)) {
    return { value: { args: value }, warnings: [refused('args: expected an object')], written: text.trim() };
  }
  // If the key `args` occurs twice, both values are checked.
  const occurrences = writtenMembers(text).filter(({ key }) => key === 'args');
  const problems = occurrences.flatMap((occurrence) => {
    const read = readJson(occurrence.value, { root: 'args' });
    return 'problem' in read ? [read.problem] : [];
  });
  if (occurrences.length > 1) problems.push("'args' appears twice");
  if (problems.length > 0) {
    // The last of several values counts, as for `JSON.parse`.
    const exact = exactValue(occurrences.at(-1)!.value) ?? value;
    return { value: exact, warnings: problems.map(refused), written: text.trim() };
  }
  const problem = await schemaProblem(value, schema);
  return { value, warnings: problem === undefined ? [] : [refused(problem)] };
}

/** Parses an object, with texts for numbers that JavaScript would round. Undefined if it is nested too deeply. */
function exactValue(written: string): JsonObject | undefined {
  const toNumber = (digits: string): Json => {
    const number = Number(digits);
    return isSafeNumber(digits) && Number.isFinite(number) ? number : digits;
  };
  try {
    return parse(written, null, { parseNumber: toNumber, onDuplicateKey: ({ newValue }) => newValue }) as JsonObject;
  } catch {
    return undefined;
  }
}

/** Returns why arguments do not match the schema, or why the schema cannot be read; undefined if they match. */
async function schemaProblem(args: JsonObject, schema: JsonObject): Promise<string | undefined> {
  if (Object.keys(schema).length === 0) return undefined;
  const { z } = await import('zod');
  try {
    const { error } = z.fromJSONSchema({ type: 'object', ...schema }).safeParse(args);
    return error === undefined ? undefined : describeIssues('args', error.issues);
  } catch (cause) {
    return `args: the schema cannot be read (${(cause as Error).message})`;
  }
}

type Ruled = Pick<CardRequest, 'assessment' | 'rule' | 'reason' | 'rulePlace'>;

/** Returns what the card shows of the ruling. If there is no policy, or `evaluate` throws, `reason` says so. */
function ruledOn(call: Parameters<ReturnType<typeof trialsOf>>[0], policy: Policy | undefined): Ruled {
  try {
    const trial = trialsOf(policy ?? emptyPolicy(), 'run')(call);
    const assessment = trial[2].assessment ?? defaultAssessment(call.risk);
    const { action, rule, reason } = evaluate(...trial);
    if (policy === undefined) return { assessment, rule: null, reason: 'This is a preview: no policy was asked.' };
    const answer = isAsked(action)
      ? (reason ?? 'The policy asks.')
      : `This policy answers "${action}": no reviewer would be asked.`;
    return { assessment, rule, reason: answer };
  } catch {
    const reason = 'This is a preview: the call cannot be ruled on.';
    return { assessment: defaultAssessment(call.risk), rule: null, reason };
  }
}

function emptyPolicy(): Policy {
  const parsed = parsePolicy('rules: []');
  if ('policy' in parsed) return parsed.policy;
  throw new Error('an empty policy is a policy');
}

/** Returns the digest of the call; empty for arguments that have none, such as those nested too deep. */
function digestOf(tool: string, args: JsonObject, schema: JsonObject): string {
  try {
    return callDigest({ tool, args, definition: definitionDigest({ name: tool, schema }) });
  } catch {
    return '';
  }
}

function isText(value: Json): value is string {
  return typeof value === 'string';
}

/** Reads `preview`: the list of changes that a tool's `preview` returns, or `{ state, message?, changes? }`. */
function readPreview(value: Json | undefined): { preview: CallPreview } | { problem: string } | { none: true } {
  if (value === undefined) return { none: true };
  const { state, message, changes = null } = isObject(value) ? value : { state: 'ready', changes: value };
  if (state === 'pending') return { preview: { state } };
  if (state === 'failed' && typeof message === 'string') return { preview: { state, message } };
  const read = readChanges(changes);
  return 'problem' in read ? read : { preview: { state: 'ready', changes: read.changes } };
}
