import type { Tool } from '../agents/definitions.ts';
import { redactText } from '../core/redact/find-sensitive.ts';
import { withoutHidden } from '../core/redact/join-redactions.ts';
import { findOwn } from '../redact/own-patterns.ts';
import { redactionOf, type Redaction, type RedactionSettings } from '../core/redact/redaction.ts';
import type { JsonObject } from '../core/base/tool-call.ts';
import { saidText } from '../core/base/user-files.ts';
import type { CallModelInput, CallModelResult, ModelCall } from './model-turn.ts';

/** The longest part of a text beside the calls that is searched. Reviewers see only its beginning. */
const mostSearched = 4_000;

/** Adds to each call that can run what reviewers do not see of its arguments; without settings, nothing. */
export function redactCalls(
  calls: readonly ModelCall[],
  toolNamed: (name: string) => Pick<Tool, 'subject' | 'shellSubject'> | undefined,
  settings: RedactionSettings | undefined,
): ModelCall[] {
  if (settings === undefined) return [...calls];
  return calls.map((call) =>
    call.args === undefined ? call : { ...call, redaction: redactCall(call.args, toolNamed(call.tool), settings) },
  );
}

/** What reviewers do not see of the arguments of one call, also by the policies' own patterns. */
export function redactCall(
  args: JsonObject,
  tool: Pick<Tool, 'subject' | 'shellSubject'> | undefined,
  settings: RedactionSettings,
): Redaction {
  const command = tool?.shellSubject === true ? tool.subject : undefined;
  return redactionOf(args, { settings, findMore: findOwn(settings.patterns), command });
}

/**
 * The text beside the calls of a turn: the model's text, else the last user message, redacted by the policies' own
 * patterns and without hidden values of any call of the turn. Empty if it needs no redaction here.
 */
export function shownBeside(
  text: string,
  { messages, redact }: Pick<CallModelInput, 'messages' | 'redact'>,
  calls: readonly ModelCall[],
): Pick<CallModelResult, 'contextSummary'> {
  if (redact === undefined) return {};
  // A single call needs no redaction here: its view leaves out its own hidden values.
  const hidden = calls.length < 2 ? [] : calls.filter(({ redaction }) => (redaction?.values.length ?? 0) > 0);
  if (redact.patterns.length === 0 && hidden.length === 0) return {};
  const lastUserMessage = messages.findLast(({ role }) => role === 'user');
  const beside = text.trim() !== '' || lastUserMessage === undefined ? text : saidText(lastUserMessage);
  let summary = beside.slice(0, mostSearched);
  for (const { args = {}, redaction } of hidden) summary = withoutHidden(summary, args, redaction!.values);
  return { contextSummary: redactText(summary, redact.kinds, findOwn(redact.patterns)) };
}
