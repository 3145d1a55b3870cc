import { uuid4, workflowInfo } from '@temporalio/workflow';
import type { ApprovalRequest } from '../../core/ledger/approval.ts';
import { type RequestRecord, iso } from '../../core/ledger/ledger.ts';
import { termsOfWait } from '../../core/policy/ask-terms.ts';
import { shownArguments } from '../../core/ledger/shown-arguments.ts';
import { reviewersOf, whyAsked } from '../../core/ledger/waiting-for.ts';
import { type Redaction, leavesOf, type RedactionSettings, marksOf, redactionOf } from '../../core/redact/redaction.ts';
import type { JsonObject, Risk } from '../../core/base/tool-call.ts';
import type { ActivePolicies, RuledCase } from './active-policies.ts';
import { redactText } from '../../core/redact/find-sensitive.ts';
import { joinRedactions, sameTexts, wholeRedaction, withoutHidden } from '../../core/redact/join-redactions.ts';

interface CallToAsk {
  callId: string;
  tool: string;
  args: JsonObject;
  risk: Risk;
  ruled: RequestRecord['ruled'];
  digest: string;
  ruledCase: RuledCase;
  contextSummary: string;
  sentence?: string;
  lineage: string[];
  /** What the activity that parsed the arguments found to be redacted. */
  redaction?: Redaction;
  replaces?: ApprovalRequest['replaces'];
  advice?: ApprovalRequest['advice'];
  previewTimeoutMs?: number;
  binds?: boolean;
  atMs: number;
  /** The latest possible deadline, whatever the policies say; null or absent: no such limit. */
  latestMs?: number | null;
}

/** Creates the request for a call, without opening it. Its id is new, so no earlier message can answer it (I4). */
export function recordRequest(active: ActivePolicies, call: CallToAsk): RequestRecord {
  const { tool, args, risk, ruledCase, digest, atMs, latestMs, replaces } = call;
  const { ruling, terms, assessment, redact, limits } = ruledCase;
  // If the policies no longer redact, the parts that were found before stay hidden.
  const redaction = redact === undefined ? call.redaction : redactionFor(call, redact);
  const isHidden = !limits.includeArguments || (redact !== undefined && redaction === undefined);
  const { agent, caller, metadata } = active.options;
  // Steps count as taken until just before the opening, so that a step which is due at the opening is still taken.
  const waiting = { terms, delegations: [], stepsTakenUntilMs: atMs - 1 };
  const asked = { ...waiting, request: { requestedAt: iso(atMs), toolName: tool, agentName: agent, assessment } };
  // The shorter time-out counts: that of the policies, or that of the channels.
  const timeoutMs = Math.min(terms.timeoutMs ?? Infinity, active.channelTimeoutMs(asked));
  const endMs = Math.min(atMs + timeoutMs, latestMs ?? Infinity);
  const deadlineMs = endMs === Infinity ? null : endMs;
  const waitMs = endMs === Infinity ? null : endMs - atMs;
  const { contextSummary } = call;
  const summary = redaction === undefined ? contextSummary : redactSummary(contextSummary, args, redaction);
  return {
    callId: call.callId,
    deadlineMs,
    request: {
      requestId: uuid4().replaceAll('-', ''),
      workflowId: workflowInfo().workflowId,
      toolName: tool,
      sentence: call.sentence,
      arguments: args,
      riskLevel: risk,
      assessment,
      agentName: agent,
      callerUserId: caller?.userId ?? null,
      contextSummary: summary.slice(0, 500),
      rule: ruling.rule,
      rulePlace: ruledCase.rulePlace,
      reason: whyAsked(ruling, risk),
      requestedAt: iso(atMs),
      deadline: deadlineMs === null ? null : iso(deadlineMs),
      digest,
      lineage: call.lineage,
      replaces: replaces && shownReplaces(replaces, args, redaction),
      metadata: metadata ?? {},
      advice: call.advice,
      reviewers: reviewersOf(terms, 0),
      shown: 'all',
      ...(!isHidden && shownArguments(args, ruledCase.show, redaction?.values)),
    },
    ...waiting,
    terms: termsOfWait(terms, waitMs),
    votes: [],
    hidden: isHidden ? true : undefined,
    redaction,
    previewTimeoutMs: call.previewTimeoutMs,
    ...(call.binds === true && { bound: isHidden ? ('hidden' as const) : ('pending' as const) }),
    ruled: call.ruled,
  };
}

/** The replaced request as reviewers see it: changes of its preview may quote arguments, so they are redacted. */
function shownReplaces(
  replaces: NonNullable<ApprovalRequest['replaces']>,
  args: JsonObject,
  redaction: Redaction | undefined,
): ApprovalRequest['replaces'] {
  const { changes } = replaces;
  if (changes === undefined || redaction === undefined) return replaces;
  return { ...replaces, changes: changes.map((each) => redactSummary(each, args, redaction)) };
}

interface CallToRedact {
  args: JsonObject;
  ruled: Pick<RequestRecord['ruled'], 'subject' | 'shell'>;
  /** What the activity that parsed the arguments found to be redacted, or what was found under an earlier policy. */
  redaction?: Redaction;
}

/** The most texts and numbers, and the most characters, that one activation searches. A task may take two seconds. */
const mostLeaves = 10_000;
const mostCharacters = 1_000_000;

/**
 * Returns the parts of a call's arguments that reviewers must not see; undefined if they cannot be found here. An
 * activity may have found them by the same settings. Otherwise this searches with the built-in patterns, which is not
 * possible for large arguments, or for new patterns of policies. What was found before stays hidden. `callsAtOnce` is
 * the number of calls that share the activation's time.
 */
export function redactionFor(
  { args, ruled, redaction }: CallToRedact,
  settings: RedactionSettings,
  callsAtOnce = 1,
): Redaction | undefined {
  const marks = marksOf(settings);
  if (redaction?.settings === marks.settings) return redaction;
  if (settings.patterns.length > 0 && redaction?.patterns !== marks.patterns) return undefined;
  const leaves = leavesOf(args);
  const characters = leaves.reduce((sum, { text }) => sum + text.length, 0);
  if (leaves.length > mostLeaves / callsAtOnce || characters > mostCharacters / callsAtOnce) return undefined;
  const command = ruled.shell === undefined ? undefined : ruled.subject;
  return joinRedactions(redactionOf(args, { settings, command }), redaction);
}

/** Returns what reviewers must not see of edited arguments, also what the original request hid. */
export function editedRedaction(
  call: CallToRedact,
  settings: RedactionSettings | undefined,
  { request, redaction: before }: Pick<RequestRecord, 'request' | 'redaction'>,
): Redaction | undefined {
  if (settings === undefined && before === undefined) return undefined;
  // If the policies no longer redact, they find nothing new in the edit.
  const found = settings === undefined ? { ...before!, values: [] } : redactionFor(call, settings);
  if (found === undefined) return wholeRedaction(call.args);
  if (before === undefined) return found;
  const repeated = sameTexts(call.args, request.arguments, before.values);
  return joinRedactions(found, { ...found, values: repeated });
}

/** The most characters of a summary that are searched. Fewer are shown, so that no secret at their end is missed. */
const mostSearched = 4_000;

/** Redacts the text beside a call: removes the hidden parts of the call's arguments, and other texts of their kinds. */
export function redactSummary(text: string, args: JsonObject, { kinds, values }: Redaction): string {
  const searched = withoutHidden(text.slice(0, mostSearched), args, values);
  return redactText(searched, kinds);
}
