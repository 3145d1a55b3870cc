import type { Tool } from '../agents/definitions.ts';
import { redactText } from '../core/redact/find-sensitive.ts';
import { withoutHidden } from '../core/redact/join-redactions.ts';
import { findOwn } from '../redact/own-patterns.ts';
import { redactionOf, type Redaction, type RedactionSettings } from '../core/redact/redaction.ts';
import type { JsonObject } from '../core/base/tool-call.ts';
import { saidText } from '../core/base/user-files.ts';
import type { CallModelInput, CallModelResult, ModelCall } from './model-turn.ts';

/** The most characters of the text beside the calls that are searched. Reviewers see far fewer. */
const mostSearched = 4_000;

/** Finds in the arguments of each call that can run what reviewers must not see, and adds it; nothing if no policy redacts. */
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

/** Finds the parts of one call's arguments that reviewers must not see, also by the policies' own patterns. */
export function redactCall(
  args: JsonObject,
  tool: Pick<Tool, 'subject' | 'shellSubject'> | undefined,
  settings: RedactionSettings,
): Redaction {
  const command = tool?.shellSubject === true ? tool.subject : undefined;
  return redactionOf(args, { settings, findMore: findOwn(settings.patterns), command });
}

/**
 * Redacts the text that reviewers see beside the calls of a turn: the model's text or, without one, the last message of
 * the user. Returns nothing if the run can do it alone: no policy has patterns of its own, which workflows cannot
 * apply, and the text beside one call cannot show what another call hides.
 */
export function shownBeside(
  text: string,
  { messages, redact }: Pick<CallModelInput, 'messages' | 'redact'>,
  calls: readonly ModelCall[],
): Pick<CallModelResult, 'contextSummary'> {
  if (redact === undefined) return {};
  // The run itself hides a call's own values in the text, so a single call needs no redaction here.
  const hidden = calls.length < 2 ? [] : calls.filter(({ redaction }) => (redaction?.values.length ?? 0) > 0);
  if (redact.patterns.length === 0 && hidden.length === 0) return {};
  const lastUserMessage = messages.findLast(({ role }) => role === 'user');
  const whole = text.trim() !== '' || lastUserMessage === undefined ? text : saidText(lastUserMessage);
  let summary = whole.slice(0, mostSearched);
  for (const { args = {}, redaction } of hidden) summary = withoutHidden(summary, args, redaction!.values);
  return { contextSummary: redactText(summary, redact.kinds, findOwn(redact.patterns)) };
}
