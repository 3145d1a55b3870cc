import type { Tool } from '../agents/definitions.ts';
import { redactText } from '../core/redact/find-sensitive.ts';
import { withoutHidden } from '../core/redact/join-redactions.ts';
import { findOwn } from '../redact/own-patterns.ts';
import { redactionOf } from '../core/redact/redact-arguments.ts';
import type { Redaction, RedactionSettings } from '../core/redact/redaction.ts';
import type { JsonObject } from '../core/base/tool-call.ts';
import { saidText } from '../core/base/user-files.ts';
import type { CallModelInput, CallModelResult, ModelCall } from './model-turn.ts';

/** Longest part of a text beside the calls that is searched; reviewers see its beginning. */
const mostSearched = 4_000;

/** Adds to each call that can run what reviewers do not see of its arguments. */
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

export function redactCall(
  args: JsonObject,
  tool: Pick<Tool, 'subject' | 'shellSubject'> | undefined,
  settings: RedactionSettings,
): Redaction {
  const command = tool?.shellSubject === true ? tool.subject : undefined;
  return redactionOf(args, { settings, findMore: findOwn(settings.patterns), command });
}

/**
 * The model's text, else the last user message, without what the policies' own patterns match, and without what is hidden
 * of any call of the turn: the text is shown beside each of them.
 */
export function shownBeside(
  text: string,
  { messages, redact }: Pick<CallModelInput, 'messages' | 'redact'>,
  calls: readonly ModelCall[],
): Pick<CallModelResult, 'contextSummary'> {
  if (redact === undefined) return {};
  // The view of a single call leaves out by itself what is hidden of that call.
  const hidden = calls.length < 2 ? [] : calls.filter(({ redaction }) => (redaction?.values.length ?? 0) > 0);
  if (redact.patterns.length === 0 && hidden.length === 0) return {};
  const said = messages.findLast(({ role }) => role === 'user');
  const beside = text.trim() !== '' || said === undefined ? text : saidText(said);
  let shown = beside.slice(0, mostSearched);
  for (const { args = {}, redaction } of hidden) shown = withoutHidden(shown, args, redaction!.values);
  return { contextSummary: redactText(shown, redact.kinds, findOwn(redact.patterns)) };
}
