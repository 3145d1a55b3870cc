import { adviceSentence } from '../core/policy/advice.ts';
import { shortened } from '../core/base/text.ts';
import { defaultAssessment } from '../core/assess/assessment.ts';
import { defaultReason } from '../core/ledger/waiting-for.ts';
import type { Settlement } from '../core/ledger/approval.ts';
import { personsShown } from '../core/people/directory.ts';
import type { Json, JsonObject, Risk } from '../core/base/tool-call.ts';
import { visibleText } from '../text/visible-text.ts';
import type { CardRow, CardText, CardRequest } from './card.ts';
import { type CardBounds, cutJson, cutLine } from './cut-text.ts';
import { jsonText } from './member-schema.ts';

/** Returns a row of these texts, each cut to the length of a value; no row if all texts are empty. */
function rows(label: string, texts: readonly (string | null | undefined)[], bounds: CardBounds): CardRow[] {
  const shown = texts.flatMap((text): CardText[] =>
    text === null || text === undefined || text === '' ? [] : [cutLine(text, bounds.value)],
  );
  return shown.length === 0 ? [] : [{ label, texts: shown }];
}

function jsonRow(label: string, value: Json | undefined, bounds: CardBounds): CardRow[] {
  return value === undefined ? [] : [{ label, texts: [cutJson(jsonText(value), bounds.value)] }];
}

const byRisk: Record<Risk, string> = {
  read_only: 'This tool only reads, and needs approval by default.',
  write: 'Tools that write need approval by default.',
  destructive: 'Destructive tools need approval by default.',
  unknown: 'Tools of unknown risk need approval by default.',
};

export function reasonOf({ rule, reason, riskLevel }: CardRequest, bounds: CardBounds): CardText {
  if (reason !== defaultReason(rule, riskLevel)) return cutLine(reason, bounds.value);
  if (rule === null) return { text: `No rule covers this call. ${byRisk[riskLevel]}` };
  return cutLine(`Rule ${rule} asks about this call.`, bounds.value);
}

function capitalized(text: string): string {
  return text === '' ? '' : `${text[0]!.toUpperCase()}${text.slice(1)}`;
}

/** `account:Lightworks` becomes `Account Lightworks`. */
function affectedText(resource: string): string {
  const [, kind, value] = /^([a-z]{1,20}):(.*)$/s.exec(resource) ?? [];
  if (kind === undefined || value === undefined) return resource;
  return `${kind === 'person' && value.startsWith('#') ? 'Channel' : capitalized(kind)} ${value}`;
}

/** The rows with what else speaks for or against the call. */
export function whyRows(request: CardRequest, bounds: CardBounds): CardRow[] {
  const { riskLevel, assessment, replaces, userMessages, deniedBefore, advice = [] } = request;
  const { reasons, affectedResources, recommendations } = assessment;
  // Leave out the reasons that follow from the tool's declared risk, because the row `Risk` shows it.
  const declared = defaultAssessment(riskLevel).reasons;
  const found = reasons.filter((each) => !declared.includes(each));
  return [
    ...rows('Noticed', found.map(capitalized), bounds),
    ...rows('Affects', affectedResources.map(affectedText), bounds),
    ...rows('Advice', recommendations, bounds),
    ...rows('From advisors, not from people', advice.map(adviceSentence), bounds),
    ...(deniedBefore === undefined ? [] : [deniedRow(deniedBefore, bounds)]),
    ...rows('The user has written since', userMessages?.last ?? [], bounds),
    ...rows('Changed since it was approved', replaces?.changes ?? [], bounds),
    ...rows('Replaces', replaces === undefined ? [] : [replaced(replaces)], bounds),
  ];
}

/** Returns the row of an earlier denial. The instant is first, so that no text of the reviewer can be taken for it. */
function deniedRow({ at, reviewerId, reason }: NonNullable<CardRequest['deniedBefore']>, bounds: CardBounds): CardRow {
  const who = reviewerId === undefined ? [] : [`by ${quoted(reviewerId)}`];
  const why = reason === undefined ? [...who, 'without a reason'].join(', ') : [...who, reason].join(': ');
  return { label: 'Denied before', texts: [{ text: '', at: visibleText(at) }, cutLine(why, bounds.value)] };
}

/** Names the request that this one follows, and why another was needed; empty if it has no id. */
function replaced({ requestId, by }: NonNullable<CardRequest['replaces']>): string {
  const ways = {
    edit: 'as a reviewer edited it',
    definition: 'whose tool has changed',
    preview: 'which was approved, and whose preview has changed since',
    unknown: 'which let it start',
  };
  return requestId === undefined ? '' : `request ${requestId}, ${ways[by]}`;
}

/** The rows about who calls, who may answer and has answered, and by which rule. */
export function whoRows(request: CardRequest, bounds: CardBounds): CardRow[] {
  const { approvals, votes = [], delegations = [], metadata, people, rule, rulePlace, riskLevel, assessment } = request;
  const person = personsShown(people);
  const answers = votes.map(({ reviewerId, reviewerName, identity, approved }) => {
    const who = reviewerId === undefined ? 'an unnamed reviewer' : person(reviewerId, reviewerName);
    return `${who} ${approved ? 'approves' : 'denies'} (${identity})`;
  });
  const place = rulePlace === undefined ? '' : ` (${rulePlace})`;
  const seats = delegations.map(({ from, to }) => `${person(to)} in the place of ${person(from)}`);
  // A request that needs one approval, and has none, says nothing by its count.
  const isVote = approvals !== undefined && (approvals.need > 1 || votes.length > 0);
  return [
    ...rows('Tool', [request.toolName], bounds),
    ...rows('Agent', [request.agentName], bounds),
    ...rows('Run', [request.workflowId], bounds),
    ...rows('Called by', request.lineage.length === 0 ? [] : [request.lineage.join(' > ')], bounds),
    ...rows('For', [request.callerUserId === null ? null : person(request.callerUserId)], bounds),
    ...jsonRow('Metadata', Object.keys(metadata).length === 0 ? undefined : metadata, bounds),
    ...rows('Reviewers', [request.reviewers.map((each) => person(each)).join(', ')], bounds),
    ...rows('Seats', seats, bounds),
    ...rows('Approvals', [...(isVote ? [`${approvals.have} of ${approvals.need}`] : []), ...answers], bounds),
    ...rows('Rule', [rule === null ? null : rule + place], bounds),
    ...rows('Risk', [`${riskLevel}, severity ${assessment.severity}`], bounds),
    ...rows('Request', [request.requestId], bounds),
    ...rows('Digest', [request.digest], bounds),
  ];
}

const longestEdited = 60;

/** Describes what an edit changed, on one line of visible text: `amount 89 → 50`. */
export function editText(before: JsonObject, after: JsonObject): string {
  const valueOf = (args: JsonObject, name: string): string =>
    Object.hasOwn(args, name) ? shortened(jsonText(args[name]!), longestEdited) : 'nothing';
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .map((name) => [visibleText(name), valueOf(before, name), valueOf(after, name)] as const)
    .filter(([, was, is]) => was !== is)
    .map(([name, was, is]) => `${name} ${was} → ${is}`)
    .join(', ');
}

/** Returns rows about the settlement of a request. `asked` are the arguments that the request was about. */
export function settledRows(
  settled: NonNullable<CardRequest['settled']>,
  asked: JsonObject,
  bounds: CardBounds,
  people?: CardRequest['people'],
): CardRow[] {
  const { outcome, settledAt, reviewerId, reviewerName, identity, reason, by, byId, runs, response, edited } = settled;
  const identityText = identity === undefined ? '' : ` (${identity})`;
  const who = reviewerId === undefined ? undefined : personsShown(people)(reviewerId, reviewerName) + identityText;
  // An edit has no arguments here if a policy hides them all.
  const isEditShown = edited !== undefined && Object.keys(edited.arguments).length > 0;
  const outcomeText = cutLine(edited === undefined ? outcome : `${outcome} with an edit`, bounds.value);
  const superseded = by === undefined ? [] : [cutLine(supersededBy(by, byId, runs), bounds.value)];
  return [
    { label: 'Settled', texts: [{ ...outcomeText, at: visibleText(settledAt) }, ...superseded] },
    ...rows('By', [who], bounds),
    ...rows('Because', [reason], bounds),
    ...jsonRow('Answer', response, bounds),
    ...rows('Changed', [isEditShown ? editText(asked, edited.arguments) : undefined], bounds),
    ...jsonRow('What ran', isEditShown ? edited.arguments : undefined, bounds),
  ];
}

/** Says what settled a request without an answer: the rule, grant or request with the id `byId`. */
function supersededBy(by: NonNullable<Settlement['by']>, byId: Settlement['byId'], runs: boolean): string {
  const id = byId === undefined || byId === null ? '' : ` ${byId}`;
  const effect = `the call ${runs ? 'runs' : 'does not run'}`;
  if (by === 'edit') return `by its edited call, request${id}`;
  if (by === 'grant') return `by${id}; ${effect}`;
  return `by the policy${id === '' ? '' : `, rule${id}`}; ${effect}`;
}

/** A name from the request in quotes, for a sentence of the card. */
export function quoted(name: string): string {
  return `'${visibleText(name)}'`;
}
