import type { JsonObject } from '../core/base/tool-call.ts';
import { admittedBefore } from '../core/ledger/argument-sums.ts';
import { answerBefore } from '../core/ledger/admission.ts';
import type { JournalEntry } from '../core/ledger/journal-entry.ts';
import { grantOver } from '../core/ledger/make-grant.ts';
import { ruleCase, type Case, type RunRules } from '../core/ledger/rule-case.ts';
import { reviewersOf, whyAsked } from '../core/ledger/waiting-for.ts';
import { instantMs } from '../core/messages/control.ts';
import { isAsked, mayRun, type Action } from '../core/policy/modes.ts';
import { sameDemands } from '../core/policy/ask-terms.ts';
import type { EvidenceCall, Standing, AuditedEntry } from './evidence.ts';
import type { EvidenceContext } from '../core/ledger/recorded-context.ts';
import { isCountedBefore, isEdited, onlyPeople, openRequestOf, raisedFor } from './standing.ts';
import { orderedEntries } from '../events/journal.ts';

/** One recorded ruling, and all of its inputs. */
export interface RecordedRuling {
  entry: JournalEntry;
  call: EvidenceCall & { args: JsonObject };
  rules: RunRules;
  agent: string;
  context: EvidenceContext;
  /** The state after the run's earlier calls and decisions. */
  standing: Standing;
  /** For a request about edited arguments: when the gate ruled on the edit, and which request the edit answered. */
  edit?: { atMs: number; requestId: string };
}

/** The members of a journal entry that a ruling determines. `answer` is the outcome of the call. */
export type Verdict = Pick<JournalEntry, 'rule' | 'layer' | 'severity' | 'reason' | 'grantId' | 'to'> & {
  answer: string;
};

const answers: Readonly<Record<Action, string>> = { allow: 'allowed', ask: 'asked', deny: 'denied' };

/** Evaluates a recorded ruling again, as of its time. Throws only if this version lacks the engine of the ruling. */
export function ruleAgain(recorded: RecordedRuling): { answer: Case; verdict: Verdict } {
  const { entry, call, rules, agent, context, standing, edit } = recorded;
  const atMs = edit?.atMs ?? instantMs(entry.at) ?? NaN;
  // An entry about an open request may leave out the digest of the call: it is that of the request.
  const digest = entry.digest ?? openRequestOf(standing, entry)?.digest ?? '';
  const { caller, metadata } = context;
  const advised = { advice: entry.advice, raised: raisedFor(standing, entry) };
  const standingOfCall = admittedBefore(standing, entry.callId);
  const answer = ruleCase(
    rules,
    { ...call, digest, ...advised, ...onlyPeople(standing, entry) },
    { agent, caller, metadata },
    standingOfCall,
    atMs,
  );
  return { answer, verdict: verdictOf(recorded, answer, digest, atMs) };
}

/** Returns the verdict that an entry records, with the members that its kind has. `standing` is the state before it. */
export function verdictOfEntry(standing: Standing, entry: JournalEntry): Verdict {
  const { kind, outcome = '', rule, layer, severity, reason, grantId, runs, by, byId, to } = entry;
  if (kind === 'opened') return { answer: 'asked', rule, layer, severity, reason };
  if (kind === 'reruled') return { answer: 'asked', rule, reason, to };
  if (kind === 'ruling') return { answer: outcome, rule, layer, severity, reason, grantId };
  if (isEdited(standing, entry)) return { answer: 'runs as edited' };
  const answer = runs === true ? 'allowed' : 'denied';
  return by === 'grant' ? { answer, grantId: byId ?? undefined, reason } : { answer, rule: byId, reason };
}

/** Returns the verdict to which `answer`, the case ruled on again, leads for an entry of this kind. */
function verdictOf(recorded: RecordedRuling, answer: Case, digest: string, atMs: number): Verdict {
  const { entry, standing } = recorded;
  if (entry.kind === 'reruled') return verdictOnReruled(recorded, answer, atMs);
  if (entry.kind === 'ruling' || entry.kind === 'opened') return verdictOnCall(recorded, answer, digest, atMs);
  return isEdited(standing, entry)
    ? verdictOnEdit(recorded, answer, digest, atMs)
    : verdictOnSuperseded(recorded, answer, atMs);
}

/** Returns the verdict on a new call or an edit, by the steps of `admitCall` and `applyEdit` in the gate. */
function verdictOnCall(recorded: RecordedRuling, { ruling, assessment, limits }: Case, digest: string, atMs: number) {
  const { entry, call, standing, edit } = recorded;
  const { action, rule, layer, severity, reason } = ruling;
  const facts = { rule, layer, severity, reason };
  if (!mayRun(action)) return { answer: 'denied_by_policy', ...facts };
  // A call that is counted as irreversible already counts as reversible here, so that the limit takes it once.
  const reversible = assessment.reversible || wasIrreversible(recorded);
  const counted = { ruled: call, digest, reversible, atMs };
  const early = answerBefore(standing, { action: actionForLimits(edit, ruling) }, counted, limits);
  if (early !== undefined) return { answer: early.outcome, reason: early.reason, grantId: early.grantId };
  // An earlier result answers a call that would otherwise run, or be asked about. No ruling depends on that result.
  if (entry.outcome === 'cached' && limits.cachedResults) return { answer: 'cached', ...facts };
  return { answer: answers[action], ...facts };
}

/** True if the call that a new call or an edit replaces was counted as irreversible. */
function wasIrreversible({ entry, standing, edit }: RecordedRuling): boolean {
  if (edit === undefined) return entry.by === 'unknown' || isCountedBefore(standing, entry);
  return standing.open.find(({ requestId }) => requestId === edit.requestId)?.irreversible === 1;
}

/** Returns the action by which limits apply: an approved edit is allowed, a call that an advisor approved is asked. */
function actionForLimits(edit: RecordedRuling['edit'], { action, layer }: Case['ruling']): Action {
  if (edit !== undefined) return 'allow';
  return layer === 'advisor' ? 'ask' : action;
}

/**
 * Returns the verdict on an approval with edited arguments. `decideEdited` in `core/ledger/decide.ts` has the same
 * rule: the edited call runs if the policies allow it. It also runs if they ask about it, but demand of reviewers only
 * what the request demanded.
 */
function verdictOnEdit(recorded: RecordedRuling, answer: Case, digest: string, atMs: number): Verdict {
  const { entry, standing } = recorded;
  const request = openRequestOf(standing, entry);
  const edit = { atMs, requestId: entry.requestId ?? '' };
  const verdict = verdictOnCall({ ...recorded, edit }, answer, digest, atMs);
  // Without the request's terms there is nothing to compare, so its demands count as the same.
  const isSame = request?.terms === undefined || sameDemands(answer.terms, request.terms);
  const runs = verdict.answer === 'allowed' || (verdict.answer === 'asked' && isSame);
  return runs ? { answer: 'runs as edited' } : verdict;
}

/** Returns the verdict on an open request after a change of policies: an answer, or the reviewers that it has now. */
function verdictOnReruled({ entry, call, standing }: RecordedRuling, { ruling, terms }: Case, atMs: number): Verdict {
  const { action, rule, reason } = ruling;
  if (!isAsked(action)) return { answer: answers[action], rule, reason };
  const openedMs = instantMs(openRequestOf(standing, entry)?.requestedAt) ?? NaN;
  return { answer: 'asked', rule, reason: whyAsked(ruling, call.risk), to: reviewersOf(terms, atMs - openedMs) };
}

/** Returns the verdict on an open request that was settled without an answer, by a change of policies or a grant. */
function verdictOnSuperseded(
  { entry, call, rules, standing }: RecordedRuling,
  { ruling }: Case,
  atMs: number,
): Verdict {
  const request = openRequestOf(standing, entry);
  // A grant that was made after the ruling answers the request, if its reviewers could answer this request.
  if (entry.by === 'grant' && request?.terms !== undefined) {
    const { requestedAt, callerUserId, delegations, terms, digest } = request;
    const asked = { toolName: call.tool, arguments: call.args, digest, requestedAt, callerUserId };
    const record = { request: asked, terms, delegations, ruled: { ...call, peopleOnly: request.peopleOnly } };
    const grant = grantOver(standing, record, rules.directories, atMs);
    if (grant !== undefined && grant.grantId === entry.byId) {
      const { approved, grantId, reason } = grant;
      return { answer: approved ? 'allowed' : 'denied', grantId, reason };
    }
  }
  const { action, layer, rule, reason } = ruling;
  const answer = answers[action];
  return layer === 'grant' ? { answer, grantId: rule ?? undefined, reason } : { answer, rule, reason };
}

/**
 * True for an entry that records a ruling by policies. An entry without a digest records none: the tool was unknown,
 * the arguments were invalid, or the run was closing. Of reviewers' decisions, only edits have a ruling.
 */
export function isRuling(
  { open }: { open: readonly { requestId: string; digest: string }[] },
  entry: AuditedEntry,
): boolean {
  const { kind, digest, by, outcome, requestId, withheld = [] } = entry;
  const hasDigest = digest !== undefined || withheld.includes('digest');
  if (kind === 'ruling') return hasDigest;
  if (kind === 'opened' || kind === 'reruled') return true;
  if (kind !== 'settled') return false;
  if (outcome === 'superseded') return by === 'policy' || by === 'grant';
  // An approval with another digest than its request is an edit.
  const request = open.find((each) => each.requestId === requestId);
  return outcome === 'approved' && request !== undefined && digest !== undefined && digest !== request.digest;
}

/** Returns the entries that record a ruling. `start` is the state before them, if the oldest executions are gone. */
export function rulingsOf(entries: readonly JournalEntry[], start?: Standing): JournalEntry[] {
  const open = (start?.open ?? []).map(({ requestId, digest }) => ({ requestId, digest }));
  return orderedEntries(entries).filter((entry) => {
    const { kind, requestId, digest } = entry;
    const hasRuling = isRuling({ open }, entry);
    if (kind === 'opened') open.push({ requestId: requestId ?? '', digest: digest ?? '' });
    return hasRuling;
  });
}
