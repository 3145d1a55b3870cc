/** Decides about a tool call (I1): the policies rule on the call, and it runs, waits for a reviewer, or is answered. */
import { ApplicationFailure } from '@temporalio/workflow';
import type { Assessment } from '../../core/assess/assessment.ts';
import { callDigest } from '../../core/base/digest.ts';
import type { Problem } from '../../core/base/problem.ts';
import {
  definitionChangedType,
  previewChangedType,
  refusedBySecondGate,
  type ToolCall,
  type ToolDefinition,
} from '../../core/base/tool-call.ts';
import { answerBefore } from '../../core/ledger/admission.ts';
import { approversOfGrant, type Approver } from '../../core/ledger/approved-by.ts';
import type { ApprovalRequest, OutcomeName } from '../../core/ledger/approval.ts';
import { whyAsked } from '../../core/ledger/waiting-for.ts';
import { isAsked, mayRun } from '../../core/policy/modes.ts';
import { adviceSentence, advisorsOf, raisedBy, withoutReasons, type Advice } from '../../core/policy/advice.ts';
import { countsAsIrreversible } from '../../core/ledger/open-request.ts';
import { sentences, userHasWritten } from '../../core/ledger/sentences.ts';
import { limitsOf } from '../../core/policy/limits.ts';
import type { PolicyLayers } from '../../core/policy/policy.ts';
import type { RulingMeter } from '../../core/match/ruling-meter.ts';
import { redactText } from '../../core/redact/find-sensitive.ts';
import type { Redaction, RedactionSettings } from '../../core/redact/redaction.ts';
import { type ShellSplit, notSplit } from '../../core/shell/parts.ts';
import type { Consultation } from './consult-advisors.ts';
import { clock } from '../sandbox/clock.ts';
import type { ActivePolicies } from '../state/active-policies.ts';
import type { GateState } from '../state/gate-state.ts';
import { recordRequest } from '../state/record-request.ts';
import type { ChangedDefinition } from '../../activities/call-tool.ts';

/**
 * `allowed`: the call runs; `approvedBy` made the grant for it. `asked`: it waits for a reviewer. `answered`: it does
 * not run, and the model gets `content`. `advised`: it passes the gate again once its advisors have answered.
 */
export type Admission =
  | { kind: 'allowed'; approvedBy?: Approver[] }
  | { kind: 'asked'; requestId: string }
  | { kind: 'advised'; consultation: Consultation }
  | { kind: 'answered'; content: string; outcome: OutcomeName; isError: boolean };

/** What activities and the run know about a call before its ruling. */
export interface CallFacts {
  /** What reviewers see beside the call: the model's text in the same turn, else the last user message. */
  contextSummary: string;
  shell?: ShellSplit & { argument: string };
  sentence?: string;
  assessment?: Assessment;
  /** The parts of the arguments that reviewers must not see. Absent if no activity has searched the arguments. */
  redaction?: Redaction;
  /** Why the user stopped the turn. Then the call must not run, whatever the policies say. */
  stopped?: string;
  /** Why the second gate would refuse to start the call, as its worker reported with the model's answer. */
  cannotStart?: string;
  /** True if a message of the user had not reached the model when the model made the call. */
  isUnheard?: boolean;
  /** Finds an earlier result that answers the call, by the call's digest. Absent: the tool's results are not kept. */
  earlier?: (digest: string) => EarlierResult | undefined;
  /** The answers of the call's advisors. Absent: they have not been consulted. */
  advice?: readonly Advice[];
  /** The request that approved the call before its tool changed or its outcome became unknown. */
  replaces?: ApprovalRequest['replaces'];
}

export interface EarlierResult {
  callId: string;
  content: string;
}

/** Rules on one call and, for `ask`, opens its request. Only exactly this call can run (I8). `meter` sums the work. */
export function admitCall(
  state: GateState,
  active: ActivePolicies,
  { call, tool, facts, meter }: { call: ToolCall; tool: ToolDefinition; facts: CallFacts; meter?: RulingMeter },
): Admission {
  const { callId, args } = call;
  const { name: toolName, risk, subject, shellSubject, beside, show, previewTimeoutMs, bind, definition } = tool;
  const { ledger, closing = facts.stopped } = state;
  const atMs = clock.nowMs;
  const answered = (outcome: OutcomeName, content: string): Admission => ({
    kind: 'answered',
    content,
    outcome,
    isError: isErrorForModel(active.policies, outcome),
  });
  if (closing !== undefined) {
    state.apply({ kind: 'rule', atMs, callId, toolName, outcome: 'cancelled', reason: closing });
    return answered('cancelled', sentences.cancelled(closing));
  }
  if (meter !== undefined && state.isSpent(meter)) {
    return refuseCall(state, active, { callId, toolName, content: sentences.tooMuchAtOnce });
  }
  const digest = digestOf(call, tool);
  if (typeof digest !== 'string') {
    return refuseCall(state, active, { callId, toolName, content: sentences.failed(digest.message) });
  }
  const shell = shellOf(tool, facts);
  const { contextSummary, sentence, replaces, assessment: assessed, redaction } = facts;
  // If arguments are hidden from reviewers, so are the advisors' reasons, which may quote arguments.
  const advice = state.showsArguments ? facts.advice : facts.advice && withoutReasons(facts.advice);
  const ruledCall = { tool: toolName, args, risk, subject, shell, beside };
  const mayHaveRun = replaces?.by === 'unknown';
  const ifRepeated = {
    ...((mayHaveRun || replaces?.by === 'preview') && { peopleOnly: true as const }),
    ...(mayHaveRun && { mayHaveRun: true as const }),
  };
  const ruledCase = active.rule(
    { ...ruledCall, ...ifRepeated, show, digest, assessed, definition, advice },
    ledger,
    atMs,
    meter,
  );
  const { ruling, assessment, limits } = ruledCase;
  if (!mayRun(ruling.action)) {
    state.apply({ kind: 'rule', atMs, callId, toolName, outcome: 'denied_by_policy', ruling, digest, advice });
    const denial =
      ruling.layer === 'advisor' ? facts.advice?.find(({ advisor }) => advisor === ruling.rule) : undefined;
    const written = denial === undefined ? ruling.reason : adviceSentence(denial);
    return answered('denied_by_policy', sentences.deniedByPolicy(toolName, written));
  }
  // The limit of irreversible calls has counted the call that this one replaces, so it must not count this one again.
  const reversible = assessment.reversible || (replaces !== undefined && countsAsIrreversible(ledger, replaces));
  // Apply the limits for calls that need an approval also if an advisor approves the call in place of reviewers.
  const limited = ruling.layer === 'advisor' ? { action: 'ask' as const } : ruling;
  const answer = answerBefore(ledger, limited, { ruled: ruledCall, digest, reversible, atMs }, limits, meter);
  if (answer !== undefined) {
    const { outcome, content, reason, grantId } = answer;
    state.apply({ kind: 'rule', atMs, callId, toolName, outcome, digest, reason, grantId, advice });
    return answered(outcome, content);
  }
  // An earlier result needs no approval: no tool runs, and the model has the result already.
  const earlier = limits.cachedResults && !mayHaveRun ? facts.earlier?.(digest) : undefined;
  if (earlier !== undefined) {
    const { callId: resultOf, content } = earlier;
    state.apply({ kind: 'rule', atMs, callId, toolName, outcome: 'cached', ruling, digest, resultOf, advice });
    return answered('cached', content);
  }
  if (!isAsked(ruling.action)) {
    // Read the approvers before `apply`, which may use up the grant.
    const approvedBy = ruling.layer === 'grant' ? approversOfGrant(ruling.rule, ledger, state.directories) : [];
    state.apply({ kind: 'rule', atMs, callId, toolName, outcome: 'allowed', ruling, digest, reversible, args, advice });
    return { kind: 'allowed', ...(approvedBy.length > 0 && { approvedBy }) };
  }
  if (facts.cannotStart !== undefined) {
    return refuseCall(state, active, { callId, toolName, content: sentences.failed(facts.cannotStart) });
  }
  if (facts.isUnheard === true && ruledCase.terms.whenUserWrites === 'withdraw') {
    state.apply({ kind: 'rule', atMs, callId, toolName, outcome: 'cancelled', reason: userHasWritten, advice });
    return answered('cancelled', sentences.cancelled(userHasWritten));
  }
  const advisors = mayHaveRun ? [] : advisorsOf(ruling);
  if (facts.advice === undefined && advisors.length > 0) {
    const { severity, rule } = ruling;
    const { agent, caller } = active.options;
    const why = { severity, rule, reason: whyAsked(ruling, risk), contextSummary };
    const about = { tool: toolName, risk, agent, ...(caller && { caller: caller.userId }), ...why };
    return { kind: 'advised', consultation: { advisors, about, subject, shellSubject } };
  }
  const raised = advice && raisedBy(advice);
  const ruled = {
    definition,
    subject,
    shell,
    beside,
    show,
    assessment: assessed,
    ...(raised && { raised }),
    ...ifRepeated,
  };
  const { lineage = [] } = active.options;
  const asked = { callId, tool: toolName, args, risk, ruled, digest, ruledCase, contextSummary, sentence };
  const previewed = { previewTimeoutMs, binds: bind !== undefined };
  const record = recordRequest(active, { ...asked, replaces, advice, redaction, ...previewed, lineage, atMs });
  state.noteGrowth();
  state.apply({ kind: 'open', atMs, record, ruling });
  return { kind: 'asked', requestId: record.request.requestId };
}

/** Records that a call is refused without a ruling, such as for bad arguments, and returns `content` for the model. */
export function refuseCall(
  state: GateState,
  active: ActivePolicies,
  { callId, toolName, content }: { callId: string; toolName: string; content: string },
): Admission {
  // The sentence may quote arguments, so the journal has it only if the policies show them.
  const reason = state.showsArguments ? withoutSecrets(content, active.redaction)?.slice(0, 500) : undefined;
  state.apply({ kind: 'rule', atMs: clock.nowMs, callId, toolName, outcome: 'refused', reason });
  return { kind: 'answered', content, outcome: 'refused', isError: isErrorForModel(active.policies, 'refused') };
}

/** Redacts a sentence that may quote arguments. Undefined if a policy has own patterns: workflows cannot apply them. */
function withoutSecrets(content: string, redaction: RedactionSettings | undefined): string | undefined {
  if (redaction === undefined) return content;
  return redaction.patterns.length > 0 ? undefined : redactText(content.slice(0, 2_000), redaction.kinds);
}

const denials: readonly OutcomeName[] = ['denied', 'denied_by_policy', 'expired', 'superseded', 'refused'];

/** True if the model gets this outcome as an error: a denial, if `approval.denied_as` is `error`. */
export function isErrorForModel(policies: PolicyLayers, outcome: OutcomeName): boolean {
  return denials.includes(outcome) && limitsOf(policies).deniedAs === 'error';
}

/** Returns the digest of a call; a problem if its arguments have no canonical JSON, of which the digest is made. */
function digestOf({ args }: ToolCall, { name, definition }: ToolDefinition): string | Problem {
  try {
    return callDigest({ tool: name, args, definition });
  } catch (error) {
    return { code: 'arguments_invalid', message: error instanceof Error ? error.message : String(error) };
  }
}

/** Returns the split command of a shell tool; `notSplit`, which no allow rule matches, if no activity has split it. */
function shellOf({ subject, shellSubject }: ToolDefinition, { shell }: CallFacts): ShellSplit | undefined {
  if (shellSubject !== true) return undefined;
  return shell !== undefined && shell.argument === subject ? shell : notSplit;
}

/** Returns the second gate's report that tool `name` or its preview has changed; undefined for any other failure. */
export function changedDefinitionOf(cause: unknown, name: string): ChangedDefinition | undefined {
  if (!(cause instanceof ApplicationFailure)) return undefined;
  if (cause.type !== definitionChangedType && cause.type !== previewChangedType) return undefined;
  const [by, change] = (cause.details ?? []) as [unknown, Partial<ChangedDefinition> | undefined];
  const isPreview = cause.type === previewChangedType;
  const isWhole = typeof change?.definition?.definition === 'string' && isPreview === Array.isArray(change.changes);
  // Any client that may fail activities can write this failure, so a report about another tool must not count.
  const isOfTool = change?.definition?.name === name;
  return by === refusedBySecondGate && isWhole && isOfTool ? (change as ChangedDefinition) : undefined;
}
