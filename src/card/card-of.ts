import type { CallPreview } from '../core/base/call-preview.ts';
import { formatDuration } from '../core/base/duration.ts';
import { instantText, timeLeft } from '../text/instant-text.ts';
import { visibleJson, visibleLine, visibleText, fromVisible, visibleEscape } from '../text/visible-text.ts';
import { instantMs } from '../core/messages/control.ts';
import { argumentFields, type ArgumentFields } from './argument-fields.ts';
import type { Card, CardAnswer, CardField, CardRequest, CardChange, CardText } from './card.ts';
import { isCut } from './card.ts';
import { cardChange, isChangeNameCut } from './card-change.ts';
import { cardSentence } from './call-sentence.ts';
import { quoted, reasonOf, settledRows, whoRows, whyRows } from './card-rows.ts';
import type { CardBounds } from './cut-text.ts';
import { cardBounds, countedNoun, cutInline, cutLine, noBounds, countedCharacters, grouped } from './cut-text.ts';
import { jsonText } from './member-schema.ts';
import { defaultAssessment } from '../core/assess/assessment.ts';
import { jsonDigest } from '../core/base/digest.ts';
import type { Json, Risk } from '../core/base/tool-call.ts';
import { defaultAlways } from '../core/policy/grants.ts';
import type { Always } from '../core/policy/policy.ts';
import { lookAlikes, looksLike } from '../text/look-alikes.ts';

export interface CardOptions {
  /** The current time, in milliseconds since 1970. Without it, the card does not show the time left. */
  nowMs?: number;
  /** True: nothing is cut. */
  all?: boolean;
  /** The widest grant that the answer "always" can make. Default: that of the request, or else the default of rules. */
  always?: OfferedAlways;
  warnings?: readonly string[];
  /** The call's JSON as the model wrote it. Needed only if parsing loses a part of it, such as a repeated key. */
  written?: string;
}

/** Builds the card of a request, whose texts are all untrusted. Never throws if its members have their types. */
export function cardOf(
  request: CardRequest,
  { nowMs, all = false, always, warnings = [], written }: CardOptions = {},
): Card {
  const bounds = all ? noBounds : cardBounds;
  const args = argumentFields(request.arguments, request.schema ?? {}, bounds);
  const rowFields = listFields(request);
  const fields = [...args.fields, ...rowFields].map(withWarnings);
  const notShown = request.shown === 'part' ? (request.notShown ?? request.argumentNames ?? []) : [];
  const card: Omit<Card, 'answers' | 'whole' | 'warnings'> = {
    version: 1,
    requestId: visibleText(request.requestId),
    toolName: visibleText(request.toolName),
    sentence: cardSentence(request, fields, bounds, args.left),
    arguments: fields,
    notShown: notShown.map((name) => cutInline(name, bounds.value)),
    ...(request.preview !== undefined && { preview: previewOf(request.preview, bounds) }),
    reason: reasonOf(request, bounds),
    why: whyRows(request, bounds),
    who: whoRows(request, bounds),
    ...(request.contextSummary.trim() !== '' && { words: cutLine(request.contextSummary, bounds.value) }),
    time: timeOf(request, nowMs),
    ...(request.settled !== undefined && {
      settled: settledRows(request.settled, request.arguments, bounds, request.people),
    }),
    raw: rawOf(request, written),
  };
  const cut = cutNotice(card, args, request, bounds);
  const whole = cut === undefined && request.preview?.state !== 'pending';
  // "Always" also approves later calls, so it is offered only if the card shows all of this one.
  const isAllRead = whole && redactedNames(request).length === 0;
  return {
    ...card,
    warnings: [...warnings.map((each) => visibleText(each)), ...ownWarnings(request, args, fields)],
    ...(cut !== undefined && { cut }),
    answers: request.settled === undefined ? cardAnswers(request, always ?? request.always?.widest, isAllRead) : [],
    whole,
  };
}

/** Returns fields for `shownArguments`, which the gate has rendered, if the request does not have all arguments. */
function listFields({ shown, shownArguments = {} }: CardRequest): CardField[] {
  if (shown === 'all') return [];
  return Object.entries(shownArguments).map(([name, text]) => ({
    name: visibleText(name),
    format: 'text',
    value: { text: visibleLine(text) },
  }));
}

function previewOf(preview: CallPreview, bounds: CardBounds): NonNullable<Card['preview']> {
  if (preview.state === 'pending') return { state: 'pending' };
  if (preview.state === 'failed')
    return { state: 'failed', message: { text: cutInline(preview.message, bounds.value) } };
  return { state: 'ready', changes: preview.changes.map((change) => cardChange(change, bounds)) };
}

/** Returns the times of a request. The time left is there if the request is open, and the card knows the time. */
function timeOf({ requestedAt, deadline, settled }: CardRequest, nowMs: number | undefined): Card['time'] {
  const deadlineMs = instantMs(deadline);
  const isCountdown = settled === undefined && nowMs !== undefined && deadlineMs !== undefined;
  return {
    requestedAt: visibleText(requestedAt),
    deadline: deadline === null ? null : visibleText(deadline),
    ...(isCountdown && { left: timeLeft(deadlineMs - nowMs) }),
  };
}

function rawOf({ toolName, arguments: args, shown }: CardRequest, written: string | undefined): string {
  if (written !== undefined) return visibleJson(written);
  return shown === 'all' ? `{"arguments":${jsonText(args)},"tool":${jsonText(toolName)}}` : '';
}

/** The warnings that the card derives from the request, besides those that its caller gives. */
function ownWarnings(request: CardRequest, args: ArgumentFields, fields: readonly CardField[]): string[] {
  const { preview, settled } = request;
  return [
    ...(settled === undefined ? openWarnings(request) : []),
    ...misleading(request, fields),
    ...args.warnings,
    ...redactedWarning(request),
    ...(preview?.state === 'ready' && preview.cut !== undefined ? [visibleText(preview.cut)] : []),
    ...(args.isDeep ? ['A value is nested so deeply that it is shown as JSON.'] : []),
  ];
}

/** The warnings that matter only while the request is open. */
function openWarnings(request: CardRequest): string[] {
  const { assessment, cannotBeApproved } = request;
  return [
    ...(cannotBeApproved === undefined ? [] : [visibleText(cannotBeApproved)]),
    ...criticalReason(request),
    ...(assessment.reversible ? [] : ['What this call does may not be reversible.']),
    ...ranBeforeWarning(request),
    ...deniedBeforeWarning(request),
    ...userMessagesWarning(request),
    ...previewWarning(request),
  ];
}

/** A warning with the first reason why the call is critical, other than the tool's declared risk. */
function criticalReason({ assessment: { severity, reasons }, riskLevel }: CardRequest): string[] {
  const declared = defaultAssessment(riskLevel).reasons;
  const first = reasons.find((each) => !declared.includes(each));
  return severity !== 'critical' || first === undefined ? [] : [`Critical: ${cutInline(first, longestChange)}.`];
}

/** Warns that an equal call ran or was started before: after a settled request, or allowed without one. */
function ranBeforeWarning({ ranBefore }: CardRequest): string[] {
  if (ranBefore === undefined) return [];
  const { at, requestId, ran } = ranBefore;
  const ended = 'already ran in this run';
  const unknown = 'already started in this run, and whether it took effect is unknown';
  const allowed = `allowed on ${instantText(at)}, without a question`;
  const how = ran === 'yes' ? ended : unknown;
  const when = requestId === undefined ? allowed : `settled on ${instantText(at)}, as request ${requestId}`;
  return [visibleText(`The very same call ${how}: it was ${when}.`)];
}

function deniedBeforeWarning({ deniedBefore }: CardRequest): string[] {
  if (deniedBefore === undefined) return [];
  const { times } = deniedBefore;
  const often = times === 1 ? '' : `, ${times} times`;
  return [`Reviewers denied the very same call before in this run${often}: see why you are asked.`];
}

function userMessagesWarning({ userMessages }: CardRequest): string[] {
  if (userMessages === undefined) return [];
  const written = `The user has written ${countedNoun(userMessages.count, 'message')}`;
  const where = userMessages.last.length === 0 ? 'which are not shown here' : 'see why you are asked';
  return [`${written} that the model had not got when it made this call: ${where}.`];
}

const longestChange = 200;

/** Warns of a failed preview, and of one that changed after the approval. A single short change is quoted. */
function previewWarning({ replaces, preview }: CardRequest): string[] {
  if (preview?.state === 'failed') return ['What would change is not known: the preview of the tool failed.'];
  if (replaces?.by !== 'preview') return [];
  const [first, ...others] = replaces.changes ?? [];
  const isShort = first !== undefined && first.length <= longestChange && others.length === 0;
  const what = isShort ? first : 'see why you are asked';
  return [visibleText(`Nothing ran after the approval, because what would change is not what was shown: ${what}.`)];
}

function redactedWarning(request: CardRequest): string[] {
  const names = redactedNames(request);
  if (names.length === 0) return [];
  return [`Hidden from you: ${names.join(', ')}. The tool will receive the real values.`];
}

function redactedNames({ redacted = [] }: CardRequest): string[] {
  return redacted.map((name) => visibleText(name));
}

/** Returns the SHA-256 digest, in 64 hex digits, of the card's canonical JSON without the time left. */
export function cardDigest({ time, ...card }: Card): string {
  const { left: _, ...fixed } = time;
  return jsonDigest({ ...card, time: fixed } as unknown as Json);
}

/** The widest grant that a card offers. `chosen` means that the reviewer chooses the grant in the next step. */
type OfferedAlways = Always | 'chosen';

const alwaysEffects: Record<Exclude<OfferedAlways, false> | 'unknown', (tool: string) => string> = {
  call: () => 'It runs, and so do later calls of this run with exactly these arguments.',
  arguments: (tool) => `It runs, and so do later calls of ${tool} in this run whose arguments fit what you name.`,
  tool: (tool) => `It runs, and so do all later calls of ${tool} in this run, until the grant is revoked.`,
  chosen: (tool) =>
    `It runs, and so do those later calls of ${tool} in this run that you choose next: one, some or all.`,
  unknown: (tool) =>
    `It runs, and so do later calls of ${tool} in this run, as many as the rule admits. The receipt says which.`,
};

/** Returns the widest grant by default. `unknown`: it depends on whether the tool is a shell, which no request says. */
function defaultGrant(risk: Risk): 'call' | 'unknown' {
  return defaultAlways({ risk }) === 'call' ? 'call' : 'unknown';
}

/**
 * Lists the answers with their effects. `always` is the widest grant of the answer "always"; undefined if it is
 * unknown. If `offersAlways` is false, the list lacks that answer. It lacks `edit` if arguments are hidden.
 */
function cardAnswers(request: CardRequest, always: OfferedAlways | undefined, offersAlways: boolean): CardAnswer[] {
  const { toolName, riskLevel, shown, replaces } = request;
  const tool = quoted(toolName);
  const nobody: CardAnswer = { name: 'nobody', effect: ifNobodyAnswers(request) };
  if (replaces?.by === 'unknown') return [...answersAboutRestart(tool), nobody];
  const answers: CardAnswer[] = [
    { name: 'approve', effect: `${tool} runs once, with exactly these arguments.` },
    { name: 'deny', effect: 'It does not run. The model is told "Denied:" and your reason.' },
  ];
  if (always !== false && offersAlways)
    answers.push({ name: 'always', effect: alwaysEffects[always ?? defaultGrant(riskLevel)](tool) });
  const edit = 'It runs with your arguments, if the policy allows these. The model is told.';
  if (shown === 'all') answers.push({ name: 'edit', effect: edit });
  return [...answers, { name: 'respond', effect: 'It does not run. The model gets your text as its result.' }, nobody];
}

/** The answers about a call that was started before with an unknown outcome, so that it may run twice. */
function answersAboutRestart(tool: string): CardAnswer[] {
  const again = `${tool} is started again, with exactly these arguments and the same idempotency key.`;
  const denied = 'The model is told that its outcome is unknown, and "Denied:" with your reason.';
  return [
    { name: 'approve', effect: again },
    { name: 'deny', effect: `It is not started again. ${denied}` },
    { name: 'respond', effect: 'It is not started again. The model gets your text as its result.' },
  ];
}

/** Returns a sentence about what the deadline does to the call. */
function ifNobodyAnswers({ requestedAt, deadline, onTimeout = 'deny', replaces }: CardRequest): string {
  if (deadline === null) return 'The call waits for ever.';
  if (onTimeout === 'allow') return 'It runs at the deadline, as the policy says.';
  const [fromMs, toMs] = [instantMs(requestedAt), instantMs(deadline)];
  const isSpan = fromMs !== undefined && toMs !== undefined && toMs >= fromMs;
  const told = `"Denied: no decision${isSpan ? ` within ${formatDuration(toMs - fromMs)}` : ''}"`;
  return replaces?.by === 'unknown'
    ? `It is not started again. The model is told that its outcome is unknown, and ${told}.`
    : `It does not run. The model is told ${told}.`;
}

// Warnings about misleading texts of a card, in words.

const longestQuote = 80;

/** The warnings about texts that look other than they are: names, the sentence, and the fields' own warnings. */
export function misleading(
  { toolName, agentName, sentence = '' }: CardRequest,
  fields: readonly CardField[],
): string[] {
  const texts: [name: string, shown: string][] = [
    ['The name of the tool', visibleText(toolName)],
    ['The name of the agent', visibleText(agentName)],
    ['The sentence', visibleText(sentence)],
  ];
  return [...texts.flatMap(textWarnings), ...fields.flatMap(({ warnings = [] }) => warnings)];
}

/** Adds to a field the warnings about its name and its value. */
export function withWarnings(field: CardField): CardField {
  const { name, format, value } = field;
  const shown = value.text + (value.end ?? '');
  const warnings = [
    ...textWarnings([`The name '${name}'`, name]),
    ...textWarnings([`'${name}'`, shown]),
    ...(format === 'url' ? [] : hostWarning(name, shown)),
  ];
  return warnings.length === 0 ? field : { ...field, warnings };
}

function textWarnings([name, shown]: [name: string, shown: string]): string[] {
  return [...warningsOf(name, shown), ...orderWarning(name, shown), ...gapWarning(name, shown)];
}

/** Warns of a line that goes on behind so many blanks that its end may be overlooked. */
function gapWarning(name: string, shown: string): string[] {
  const gap = /\S( {40,})(?=\S)/.exec(shown)?.[1];
  return gap === undefined ? [] : [`${name} has ${gap.length} blanks in a row, and goes on after them.`];
}

/** Letters that are written from right to left, such as Hebrew. Cards escape the control characters for direction. */
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** Warns of right-to-left letters, beside which displays reorder signs: `/srv/א/12/34` looks like `/srv/12/34/א`. */
function orderWarning(name: string, shown: string): string[] {
  if (!rightToLeft.test(shown) || !/[0-9/\\]/.test(shown)) return [];
  return [`${name} has letters written from right to left: what stands beside them may be drawn in another order.`];
}

/** Warns of a URL that seems to lead to one host and leads to another, such as `https://bank.example@evil.example`. */
function hostWarning(name: string, shown: string): string[] {
  const found = /https?:\/\/[^\s/?#@]{1,200}@([^\s/?#@]{1,200})/i.exec(shown);
  if (found !== null) return [`'${name}' has an address that leads to ${found[1]}: ${found[0]}.`];
  // A character that only looks like a slash is an escape here, and does not end the host.
  const odd = /https?:\/\/([^\s/?#@]{1,200}\\u\{[^\s/?#@]{1,200})/i.exec(shown)?.[1];
  const end = odd?.split('.').slice(-2).join('.');
  return end === undefined || end.includes('\\') ? [] : [`'${name}' has an address that leads to a host of ${end}.`];
}

/** Warns of characters that pass for others, and of invisible ones. Both are shown as escapes. */
function warningsOf(name: string, shown: string): string[] {
  // Read each escape once: a text may have a million of them.
  const escapes = [...new Set(shown.match(visibleEscape))].map(fromVisible);
  if (escapes.length === 0) return [];
  const text = fromVisible(shown);
  const places = lookAlikes(text);
  const lookAlike = new Set(places.map((index) => String.fromCodePoint(text.codePointAt(index)!)));
  const invisible = escapes.find((character) => character !== '\\' && !lookAlike.has(character));
  const word = places[0] === undefined ? '' : describeOddWord(text, places[0]);
  return [
    ...(word === '' ? [] : [`${name} has characters that pass for others: ${word}.`]),
    ...(invisible === undefined
      ? []
      : [`${name} has invisible or misleading characters, shown as ${visibleText(invisible)}.`]),
  ];
}

const blank = /\s/;

function describeOddWord(text: string, at: number): string {
  let start = at;
  while (start > 0 && !blank.test(text[start - 1]!)) start -= 1;
  const word = /^\S*/.exec(text.slice(start, start + longestQuote))![0];
  return `${visibleText(word)} looks like ${visibleText(looksLike(word))}`;
}

const mostParts = 3;

/** The sentence about what is cut, left out or withheld; undefined if all of the call is shown. */
function cutNotice(
  { sentence, arguments: fields, preview }: Pick<Card, 'sentence' | 'arguments' | 'preview'>,
  { left, isNameCut }: ArgumentFields,
  { shown, preview: wholePreview }: CardRequest,
  bounds: CardBounds,
): string | undefined {
  const changes = preview?.state === 'ready' ? preview.changes : [];
  const hasCutName =
    wholePreview?.state === 'ready' && wholePreview.changes.some((change) => isChangeNameCut(change, bounds));
  const parts = [
    ...(isCut(sentence) ? [`${charactersShown(sentence)} of the sentence`] : []),
    ...fields.flatMap(({ name, value }) => (isCut(value) ? [`${charactersShown(value)} of '${name}'`] : [])),
    ...(left === 0 ? [] : [`${shownOf(fields.length, left, 'value')} of the arguments`]),
    ...changes.flatMap(partOfChange),
    ...(isNameCut || hasCutName ? ['parts of long names'] : []),
  ];
  if (parts.length > 0) return `Only ${listed(parts)} are shown.`;
  const isWithheld = shown !== 'all' || (wholePreview?.state === 'ready' && wholePreview.cut !== undefined);
  return isWithheld ? 'Part of this request is hidden.' : undefined;
}

/** Says how much of a change is shown. Empty if all is. */
function partOfChange(change: CardChange): string[] {
  if (change.kind === 'table') {
    const { name, rows, hiddenRows, cutCells } = change;
    if (hiddenRows > 0) return [`${shownOf(rows.length, hiddenRows, 'row')} of '${name}'`];
    return cutCells > 0 ? [`parts of ${countedNoun(cutCells, 'cell')} of '${name}'`] : [];
  }
  const { name, lines, hiddenLines } = change;
  if (hiddenLines > 0) return [`${shownOf(lines.length, hiddenLines, 'line')} of '${name}'`];
  const cut = lines.filter(({ text }) => isCut(text)).length;
  return cut > 0 ? [`parts of ${countedNoun(cut, 'line')} of '${name}'`] : [];
}

function charactersShown(text: CardText): string {
  return shownOf(countedCharacters(text), text.hidden ?? 0, 'character');
}

function shownOf(shown: number, hidden: number, noun: string): string {
  return `${grouped(String(shown))} of ${countedNoun(shown + hidden, noun)}`;
}

function listed(parts: readonly string[]): string {
  const rest = parts.length - mostParts;
  if (rest > 0) return `${parts.slice(0, mostParts).join(', ')} and parts of ${rest} more`;
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)!}`;
}
