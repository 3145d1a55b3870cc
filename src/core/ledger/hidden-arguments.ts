/**
 * The views for reviewers under `include_arguments: false`. They show names, sizes, digests, severities and fixed
 * texts, but nothing that was made from the values of arguments.
 */
import type { ApprovalRequest, Settlement, ReviewerVote } from './approval.ts';
import type { Assessment } from '../assess/assessment.ts';
import type { RequestedScope } from '../messages/decision.ts';
import { withoutReasons } from '../policy/advice.ts';
import type { Grant, GrantScope } from '../policy/grants.ts';
import type { JournalEntry } from './journal-entry.ts';
import { redactText, redactSecrets, findSensitive, withPlaceholders } from '../redact/find-sensitive.ts';
import { withoutHidden, hiderIn } from '../redact/join-redactions.ts';
import { redactedArguments, redactedNames, type Redaction, withoutActions } from '../redact/redaction.ts';
import type { RequestRecord, SettledRequest } from './ledger-state.ts';
import type { BoundFacts } from '../base/bound-preview.ts';
import type { CallPreview, Change } from '../base/call-preview.ts';
import type { Json, JsonObject } from '../base/tool-call.ts';
import { byteLength } from '../base/text.ts';

/** What reviewers see in the place of a glob that could spell a hidden value. */
export const hiddenText = '[HIDDEN]';

/** The request for a policy that hides arguments: without any text that could show a value of its arguments. */
export function hideInRequest<Request extends ApprovalRequest>(request: Request): Request {
  const { arguments: args, shown, replaces } = request;
  return {
    ...request,
    sentence: undefined,
    arguments: {},
    shownArguments: undefined,
    notShown: undefined,
    ...(shown === 'all' && { argumentNames: Object.keys(args), argumentBytes: argumentBytes(args) }),
    assessment: hideInAssessment(request.assessment),
    advice: request.advice && withoutReasons(request.advice),
    // The model's text beside a call describes what the call does.
    contextSummary: '',
    ...(replaces?.changes !== undefined && { replaces: { ...replaces, changes: undefined } }),
    shown: 'part',
  };
}

/** The settlement without edited arguments. Their digest stays, and shows that the call was edited. */
export function hideInSettlement(settlement: Settlement): Settlement {
  const { edited } = settlement;
  return edited === undefined ? settlement : { ...settlement, edited: { ...edited, arguments: {} } };
}

/** A grant as reviewers see it, without its own marks of what to hide. `showsArguments`: by the active policies. */
export function shownGrant({ hidden, redacted, ...grant }: Grant, showsArguments: boolean): Grant {
  const isShown = showsArguments && hidden === undefined;
  return { ...grant, scope: isShown ? hideGlobs(grant.scope, redacted ?? []) : hideInScope(grant.scope) };
}

/** The scope without the globs on the arguments `names`, because a glob could spell a hidden value. */
export function hideGlobs<Scope extends GrantScope | RequestedScope>(scope: Scope, names: readonly string[]): Scope {
  if (!('match' in scope) || scope.match === undefined) return scope;
  const hidden = new Set(names);
  const match = Object.entries(scope.match).map(([name, glob]) => [name, hidden.has(name) ? hiddenText : glob]);
  return { ...scope, match: Object.fromEntries(match) as Record<string, string> };
}

export function hideInVote<Vote extends { always?: boolean | RequestedScope }>(vote: Vote): Vote {
  const { always } = vote;
  return typeof always === 'object' ? { ...vote, always: hideInScope(always) } : vote;
}

export function hideInEntry(entry: JournalEntry): JournalEntry {
  return entry.scope === undefined ? entry : { ...entry, scope: hideInScope(entry.scope) };
}

/** Removes what may quote arguments: the resources, and the texts that custom assessors of the worker wrote. */
function hideInAssessment({ fromWorker = [], ...assessment }: Assessment): Assessment {
  const isFixed = (text: string): boolean => !fromWorker.includes(text);
  return {
    ...assessment,
    reasons: assessment.reasons.filter(isFixed),
    affectedResources: [],
    recommendations: assessment.recommendations.filter(isFixed),
  };
}

function hideInScope<Scope extends GrantScope | RequestedScope>(scope: Scope): Scope {
  return hideGlobs(scope, 'match' in scope ? Object.keys(scope.match ?? {}) : []);
}

// The views for reviewers where the policy says `redact`: placeholders stand for what they may not see.

/** The request as reviewers see it. Its other texts do not repeat the hidden parts of its arguments. */
export function redactInRequest<Request extends ApprovalRequest>(request: Request, redaction: Redaction): Request {
  const { arguments: args, contextSummary, sentence, replaces } = request;
  const { kinds, values } = redaction;
  const withoutValues = (text: string): string => withoutHidden(text, args, values);
  const names = redactedNames(values);
  return {
    ...request,
    arguments: redactedArguments(args, values),
    assessment: redactInAssessment(request.assessment, withoutValues),
    contextSummary: redactText(withoutValues(contextSummary), kinds),
    ...(sentence !== undefined && { sentence: redactSecrets(withoutValues(sentence)) }),
    ...(names.length > 0 && { redacted: names }),
    ...(replaces?.changes !== undefined && {
      replaces: { ...replaces, changes: replaces.changes.map((each) => redactText(withoutValues(each), kinds)) },
    }),
  };
}

/** The settlement as reviewers see it. `redaction`: what is hidden of the arguments that a reviewer wrote. */
export function redactInSettlement(settlement: Settlement, redaction: Redaction | undefined): Settlement {
  const { edited } = settlement;
  if (edited === undefined || redaction === undefined) return settlement;
  return { ...settlement, edited: { ...edited, arguments: redactedArguments(edited.arguments, redaction.values) } };
}

export function redactInVote<Vote extends { always?: boolean | RequestedScope }>(vote: Vote, names: string[]): Vote {
  const { always } = vote;
  return typeof always === 'object' ? { ...vote, always: hideGlobs(always, names) } : vote;
}

/** Names of the arguments in which something is hidden, in the request or in its edited call. */
export function hiddenNames({ redaction, editedRedaction }: RequestRecord): string[] {
  return [...new Set([redaction, editedRedaction].flatMap((each) => redactedNames(each?.values ?? [])))];
}

/** The assessment with its texts redacted. `withoutValues` removes the hidden parts of arguments from a text. */
function redactInAssessment(assessment: Assessment, withoutValues: (text: string) => string): Assessment {
  const redacted = (texts: string[]): string[] => texts.map((text) => redactSecrets(withoutValues(text)));
  const { reasons, affectedResources, recommendations, fromWorker } = assessment;
  return {
    ...assessment,
    reasons: redacted(reasons),
    affectedResources: redacted(affectedResources),
    recommendations: redacted(recommendations),
    ...(fromWorker !== undefined && { fromWorker: redacted(fromWorker) }),
  };
}

/** The parts of a request that depend on what reviewers may see of its arguments. */
export interface ShownParts {
  request: ApprovalRequest;
  votes: ReviewerVote[];
  settled?: Settlement;
}

/** The parts as reviewers see them. `hides`: true if reviewers see no arguments at all. */
export function shownParts(found: RequestRecord | SettledRequest, hides: boolean): ShownParts {
  const { request, votes, redaction, editedRedaction } = found;
  const settled = 'settlement' in found ? found.settlement : undefined;
  if (hides) {
    const hidden = { request: hideInRequest(request), votes: votes.map(hideInVote) };
    return { ...hidden, settled: settled && hideInSettlement(settled) };
  }
  if (redaction === undefined) return { request, votes, settled };
  const names = hiddenNames(found);
  // Of a request that is itself about an edited call, `redaction` is that of the edit.
  return {
    request: redactInRequest(request, redaction),
    votes: votes.map((vote) => redactInVote(vote, names)),
    settled: settled && redactInSettlement(settled, editedRedaction ?? redaction),
  };
}

/** The preview without hidden parts of arguments and texts of their kinds; a failed one if that takes too long. */
export function shownPreview(
  { request, redaction }: Pick<RequestRecord, 'request' | 'redaction'>,
  preview: CallPreview | undefined,
): CallPreview | undefined {
  if (preview === undefined || redaction === undefined) return preview;
  const hide = hiderIn(preview, request.arguments, redaction.values);
  if (hide === undefined) return { state: 'failed', message: 'it repeats too much of what is hidden of the arguments' };
  return inPreview(preview, (text) => {
    const shown = hide(text);
    return withPlaceholders(shown, withoutActions(shown, findSensitive(shown, redaction.kinds)));
  });
}

/** The preview with `change` applied to every text that the tool wrote. Its structure stays. */
function inPreview(preview: CallPreview, change: (text: string) => string): CallPreview {
  if (preview.state === 'pending') return preview;
  if (preview.state === 'failed') return { ...preview, message: change(preview.message) };
  const textOrNull = (text: string | null): string | null => (text === null ? null : change(text));
  const cells = (row: Json[] | null): Json[] | null => row?.map((cell) => inCell(cell, change)) ?? null;
  const changes = preview.changes.map((each): Change => {
    const name = change(each.name);
    if (each.kind === 'text') return { ...each, name, before: textOrNull(each.before), after: textOrNull(each.after) };
    const rows = each.rows.map(({ before, after }) => ({ before: cells(before), after: cells(after) }));
    return { ...each, name, columns: each.columns.map(change), rows };
  });
  const { cut, bound } = preview;
  const inFacts = ({ facts, ...rest }: BoundFacts): BoundFacts => ({
    ...rest,
    facts: Object.fromEntries(Object.entries(facts).map(([name, fact]) => [change(name), change(fact)])),
  });
  return {
    ...preview,
    changes,
    ...(cut !== undefined && { cut: change(cut) }),
    ...(bound !== undefined && { bound: inFacts(bound) }),
  };
}

/** The cell with `change` applied to its texts, names and numbers. A number that changes becomes a text. */
function inCell(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value);
  if (typeof value === 'number') {
    const written = JSON.stringify(value);
    const shown = change(written);
    return shown === written ? value : shown;
  }
  if (Array.isArray(value)) return value.map((each) => inCell(each, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.keys(value).map((name) => [change(name), inCell(value[name]!, change)]));
}

/** The most bytes of one request's arguments in a list: 50 requests can be open, and an answer has at most 2 MB. */
const listedArgumentBytes = 32_000;

/**
 * A request as a list shows it: without large arguments, but with their names, size and digest. The arguments are not
 * cut, because a part could pass for the whole; the query for one request shows all.
 */
export function listed(request: ApprovalRequest): ApprovalRequest {
  const bytes = argumentBytes(request.arguments);
  if (bytes <= listedArgumentBytes) return request;
  const argumentNames = Object.keys(request.arguments);
  return { ...request, arguments: {}, argumentNames, argumentBytes: bytes, shown: 'part' };
}

const measured = new WeakMap<JsonObject, number>();

/** Bytes of the arguments' JSON. Measured once per object: several megabytes take milliseconds. */
export function argumentBytes(args: JsonObject): number {
  const known = measured.get(args) ?? byteLength(JSON.stringify(args));
  measured.set(args, known);
  return known;
}
