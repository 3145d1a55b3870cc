import type { RequestRecord } from '../../core/ledger/ledger.ts';
import { redactText } from '../../core/redact/find-sensitive.ts';
import { joinRedactions, sameTexts, wholeRedaction, withoutHidden } from '../../core/redact/join-redactions.ts';
import { leavesOf, type Redaction, type RedactionSettings } from '../../core/redact/redaction.ts';
import { marksOf, redactionOf } from '../../core/redact/redact-arguments.ts';
import type { JsonObject } from '../../core/base/tool-call.ts';

/** A call whose arguments are to be redacted for reviewers. */
export interface CallToRedact {
  args: JsonObject;
  ruled: Pick<RequestRecord['ruled'], 'subject' | 'shell'>;
  /** What the activity that parsed the arguments found to be redacted, or what was found under an earlier policy. */
  redaction?: Redaction;
}

/** The texts and numbers that one activation searches, and their characters: workflow code has two seconds. */
const mostLeaves = 10_000;
const mostCharacters = 1_000_000;

/**
 * What reviewers do not see of a call. If an activity has searched the arguments by the same settings, its result is
 * used; otherwise the built-in patterns are applied here. Undefined if the policies' own patterns, which need a library
 * that never runs here, were not applied to these arguments, or if the arguments are too large to search. `among`: the
 * number of calls that are searched in the same activation. Parts that were found before stay hidden.
 */
export function redactionFor(
  { args, ruled, redaction }: CallToRedact,
  settings: RedactionSettings,
  among = 1,
): Redaction | undefined {
  const marks = marksOf(settings);
  if (redaction?.settings === marks.settings) return redaction;
  if (settings.patterns.length > 0 && redaction?.patterns !== marks.patterns) return undefined;
  const leaves = leavesOf(args);
  const characters = leaves.reduce((sum, { text }) => sum + text.length, 0);
  if (leaves.length > mostLeaves / among || characters > mostCharacters / among) return undefined;
  const command = ruled.shell === undefined ? undefined : ruled.subject;
  return joinRedactions(redactionOf(args, { settings, command }), redaction);
}

/**
 * What reviewers do not see of edited arguments: what the policies hide, and hidden parts of the request wherever the
 * edit repeats them. If the policies' own patterns were not applied to the edit, all arguments are hidden.
 */
export function editedRedaction(
  call: CallToRedact,
  settings: RedactionSettings | undefined,
  { request, redaction: before }: Pick<RequestRecord, 'request' | 'redaction'>,
): Redaction | undefined {
  if (settings === undefined && before === undefined) return undefined;
  const ofEdit = settings === undefined ? before! : redactionFor(call, settings);
  if (ofEdit === undefined) return wholeRedaction(call.args);
  const found = settings === undefined ? { ...ofEdit, values: [] } : ofEdit;
  return before === undefined
    ? found
    : joinRedactions(found, { ...found, values: sameTexts(call.args, request.arguments, before.values) });
}

/**
 * The longest part of a summary that is searched. It is much longer than what is shown, so that no secret is cut in
 * two.
 */
const mostSearched = 4_000;

/** The text beside a call, without the hidden parts of its arguments and without other texts of the same kinds. */
export function redactSummary(text: string, args: JsonObject, { kinds, values }: Redaction): string {
  const searched = withoutHidden(text.slice(0, mostSearched), args, values);
  return redactText(searched, kinds);
}
